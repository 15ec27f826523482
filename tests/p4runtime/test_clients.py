"""p4runtime-shell and PTF's P4Runtime base against the server, both unmodified.

They need older protobufs than ours, so they run under an interpreter of their own:

python -m venv clients && clients/bin/pip install p4runtime-shell ptf

NARROWS_CLIENTS names its `bin` directory, NARROWS_PTF_BASE the directory of a `base_test.py` (p4c,
tools/ptf).
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import grpc
import pytest
from finsy.proto import p4r

from tests.support.p4rt import CONTROL, DEVICE, PROGRAMS, Client, Served, client, config
from tests.support.world import ROOT

CLIENTS = Path(os.environ.get("NARROWS_CLIENTS", ""))
BASE = Path(os.environ.get("NARROWS_PTF_BASE", ""))
PROFILES = (PROGRAMS / "profiles.p4info.txtpb", PROGRAMS / "profiles.json")
SCRIPTS = ROOT / "tests/clients"


@pytest.mark.skipif("NARROWS_CLIENTS" not in os.environ, reason="p4runtime-shell: NARROWS_CLIENTS")
def test_p4runtime_shell(served: Served) -> None:
    arguments = [served.address, str(DEVICE), *map(str, CONTROL)]
    done = subprocess.run(
        [CLIENTS / "python", SCRIPTS / "shell.py", *arguments],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout[-5:]) == (0, "done\n"), done.stdout + done.stderr
    sent = served.switch.run_until(0)
    assert [(port, packet) for port, _, _, packet in sent] == [(2, bytes(14))]


@pytest.mark.skipif(
    "NARROWS_CLIENTS" not in os.environ or "NARROWS_PTF_BASE" not in os.environ,
    reason="PTF's P4Runtime base: NARROWS_CLIENTS, NARROWS_PTF_BASE",
)
def test_ptf_s_p4runtime_base(served: Served, tmp_path: Path) -> None:
    p4info, program = PROFILES
    parameters = (
        f"grpcaddr='{served.address}';device_id={DEVICE};p4info='{p4info}';config='{program}'"
    )
    tests = ["Push", "Members", "ActionSets", "Extras", "Replication", "Refusal"]
    done = subprocess.run(
        [
            CLIENTS / "ptf", "--test-dir", SCRIPTS / "ptf", "--pypath", BASE, "--platform",
            "dummy", "--test-params", parameters, "--log-file", tmp_path / "ptf.log",
            *(f"profiles.{name}" for name in tests),
        ],
        cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert done.returncode == 0 and f"Ran {len(tests)} tests" in said, said


def test_a_client_without_a_stream_may_write_while_it_is_alone(served: Served) -> None:
    """The set-up of PTF's runner before its tests."""
    request = p4r.SetForwardingPipelineConfigRequest(device_id=DEVICE, config=config(CONTROL))
    request.action = p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT
    Client(served.address).stub.SetForwardingPipelineConfig(request)
    assert served.service.has_pipeline
    with client(served.address) as primary:
        primary.arbitrate()
        with pytest.raises(grpc.RpcError) as refused:
            primary.stub.SetForwardingPipelineConfig(request)
        assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED
