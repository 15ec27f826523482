"""What the switch's tests share."""

from tests.support.live_switch import hosts
from tests.support.switch_command import start

__all__ = ["hosts", "start"]
