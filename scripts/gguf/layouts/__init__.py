"""What the files of each architecture hold: metadata keys and tensors, with random values whose scale
keeps the residual stream level. layout.py is the plain decoder; each family has a file with LAYOUTS
(architecture: its layout) and PRESETS (name: its numbers)."""
from . import dense, gemma, hybrid, latent, mixture

FAMILIES = (dense, gemma, hybrid, mixture, latent)
LAYOUTS = {name: layout for family in FAMILIES for name, layout in family.LAYOUTS.items()}
PRESETS = {name: numbers for family in FAMILIES for name, numbers in family.PRESETS.items()}
