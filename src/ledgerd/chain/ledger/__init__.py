"""The state as the rules see it, and what every rule needs: arithmetic, skip flags, the registry of evaluators."""
