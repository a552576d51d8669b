"""What the files of each architecture hold: metadata keys and tensors, with random values whose scale
keeps the residual stream level. layout.py is the plain decoder; each family has a file with LAYOUTS
(architecture: its layout) and PRESETS (name: its numbers)."""
from . import dense, hybrid, latent, mixture

LAYOUTS = {**dense.LAYOUTS, **hybrid.LAYOUTS, **mixture.LAYOUTS, **latent.LAYOUTS}
PRESETS = {**dense.PRESETS, **hybrid.PRESETS, **mixture.PRESETS, **latent.PRESETS}
