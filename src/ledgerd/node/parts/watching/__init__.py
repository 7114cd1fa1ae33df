"""The parts that watch the node itself."""
