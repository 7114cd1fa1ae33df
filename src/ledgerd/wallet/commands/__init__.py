"""The commands of `ledgerd wallet`, without their arguments: those are declared in `cli.wallet`."""
