/* The kernels of dot_amx.c over tile instructions in C. */
#include "amx_in_c.h"

#include <immintrin.h>

#include "tiles_in_c.h"

#define cpu_tiles_begin in_c_begin
#define cpu_tiles_end in_c_end
#define cpu_tiles_tile in_c_tile
#include "engine/cpu/dot_amx.c"

void in_c_bytes(void *sum, const void *a, const void *b)
{
    _tile_loadd(0, sum, 64);
    _tile_loadd(4, a, 32);
    _tile_loadd(6, b, 64);
    _tile_dpbssd(0, 4, 6);
    _tile_stored(0, sum, 64);
}
