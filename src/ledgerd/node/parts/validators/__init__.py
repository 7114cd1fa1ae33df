"""The parts that watch validators: ours, and those of `validator-monitor`."""
