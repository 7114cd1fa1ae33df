"""What the commands of `ledgerd wallet` do, without their arguments: those are declared in `wallet.arguments`."""
