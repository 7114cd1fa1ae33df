"""Webhooks: operations of the history are sent to the programs of the operator, signed, in order, and at least once."""
