/* The kernels of dot_amx.c over tile instructions in C. */
#include "amx_in_c.h"

#include <immintrin.h>

#include "tiles_in_c.h"

#define cpu_tiles_begin in_c_begin
#define cpu_tiles_end in_c_end
#define cpu_tiles_round in_c_round
#define cpu_tiles_tile in_c_tile
#define cpu_tiles_pairs_round in_c_pairs_round
#define cpu_tiles_pairs_tile in_c_pairs_tile
#include "engine/cpu/dot_amx.c"

void in_c_bytes(void *sum, const void *a, const void *b)
{
    _tile_loadd(0, sum, 64);
    _tile_loadd(1, a, 64);
    _tile_loadd(2, b, 64);
    _tile_dpbssd(0, 1, 2);
    _tile_stored(0, sum, 64);
}

void in_c_pairs(void *sum, const void *a, const void *b)
{
    _tile_loadd(0, sum, 64);
    _tile_loadd(1, a, 64);
    _tile_loadd(2, b, 64);
    _tile_dpbf16ps(0, 1, 2);
    _tile_stored(0, sum, 64);
}
