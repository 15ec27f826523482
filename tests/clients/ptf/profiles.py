"""Tests for PTF's runner, on its unmodified P4Runtime base (p4c, tools/ptf/base_test.py); the
program is switch/tests/programs/profiles.p4. See tests/p4runtime/test_clients.py.
"""

import base_test as bt
import ptf
import ptf.dataplane


class SwitchTest(bt.P4RuntimeTest):
    """A switch whose ports PTF does not drive."""

    def setUp(self):
        if ptf.dataplane_instance is None:
            ptf.dataplane_instance = ptf.dataplane.DataPlane(ptf.config)
        super().setUp()


class Members(SwitchTest):
    """Members and groups of a profile, and entries that name them."""

    @bt.autocleanup
    def runTest(self):
        self.send_request_add_member("plain", 1, "out_by", [("port", 2)])
        self.send_request_add_entry_to_member("by_member", [self.Exact("hdr.h.a", 1)], 1)
        self.send_request_add_member("chosen", 1, "out_by", [("port", 2)])
        self.send_request_add_member("chosen", 2, "out_by", [("port", 3)])
        self.send_request_add_group("chosen", 7, 4, [1])
        self.send_request_set_group_membership("chosen", 7, [1, 2])
        self.send_request_add_entry_to_group("by_group", [self.Exact("hdr.h.a", 5)], 7)
        self.assertEqual(len(self.table_dump_data("by_group")[0]), 1)


class ActionSets(SwitchTest):
    """An entry with actions of its own."""

    @bt.autocleanup
    def runTest(self):
        key = ("by_group", [self.Exact("hdr.h.a", 6)])
        actions = [("out_by", [("port", 2)]), ("out_by", [("port", 3)], {"weight": 2})]
        options = {"oneshot": True, "oneshot_actions": actions}
        self.table_add(key, ("out_by", [("port", 2)]), options=options)
        [entry] = self.table_dump_data("by_group")[0]
        shown = entry.action.action_profile_action_set.action_profile_actions
        self.assertEqual([one.weight for one in shown], [1, 2])


class Extras(SwitchTest):
    """Idle time-outs, direct counters, a default action."""

    @bt.autocleanup
    def runTest(self):
        key = ("idle", [self.Exact("hdr.h.a", 1)])
        self.table_add(key, ("out_by", [("port", 2)]), options={"idle_timeout_ns": 10**9})
        self.assertEqual(len(self.counter_dump_data("hits", direct=True)), 1)
        key = ("metered", [self.Exact("hdr.h.c", 5)])
        self.table_add(key, ("marked", []))
        self.table_add(("idle", None), ("discard", []))


class Replication(SwitchTest):
    """A clone session."""

    @bt.autocleanup
    def runTest(self):
        self.insert_pre_clone_session(6, [2, 3])


class Refusal(SwitchTest):
    """A refusal has its code and names the object."""

    def runTest(self):
        key = ("by_member", [self.Exact("hdr.h.a", 1)])
        with self.assertP4RuntimeError(bt.code_pb2.NOT_FOUND, "plain.*77"):
            self.send_request_add_entry_to_member(key[0], key[1], 77)


class Push(SwitchTest):
    """The pipeline is pushed."""

    def runTest(self):
        self.assertTrue(self.updateConfig())
