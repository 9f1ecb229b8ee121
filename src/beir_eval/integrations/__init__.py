"""Other packages' interfaces over this package's engine."""
