/* The tile instructions of AMX stated in plain C, after the operation sections of Intel's manual
 * (Software Developer's Manual, volume 1 chapter 18 and volume 2: LDTILECFG, TILELOADD, TILESTORED,
 * TILEZERO, TDPBSSD), so that kernels written for tiles run and are tested on machines
 * without them. Included after immintrin.h and before the kernels: it takes the intrinsics' names.
 *
 * One thread's tiles, as on a processor. What would fault there ends the process with a line. */
#ifndef QN_TESTS_TILES_IN_C_H
#define QN_TESTS_TILES_IN_C_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

static _Thread_local struct tile_config tiles_are; /* palette 0: not configured */
static _Thread_local uint8_t tile_data[8][16][64];

static void tile_demand(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "a tile instruction would fault: %s\n", what);
    abort();
}

static void tiles_configure(const void *config)
{
    struct tile_config c;
    memcpy(&c, config, sizeof c);
    tile_demand(c.palette == 1, "a palette other than 1");
    tile_demand(c.start_row == 0, "started in the middle");
    for (int i = 0; i < 14; i++)
        tile_demand(c.reserved[i] == 0, "reserved bytes are not zero");
    for (int i = 0; i < 16; i++) {
        tile_demand(i < 8 || (c.row_bytes[i] == 0 && c.rows[i] == 0), "more than eight tiles");
        tile_demand(c.row_bytes[i] <= 64 && c.rows[i] <= 16, "a tile too large");
        tile_demand((c.row_bytes[i] == 0) == (c.rows[i] == 0), "a tile with one side");
    }
    tiles_are = c;
    memset(tile_data, 0, sizeof tile_data);
}

static void tiles_release(void)
{
    memset(&tiles_are, 0, sizeof tiles_are);
    memset(tile_data, 0, sizeof tile_data);
}

static void tile_known(int t)
{
    tile_demand(tiles_are.palette == 1 && t >= 0 && t < 8 && tiles_are.rows[t] > 0,
                "no such tile is configured");
}

static void tile_clear(int t)
{
    tile_known(t);
    memset(tile_data[t], 0, sizeof tile_data[t]);
}

static void tile_load(int t, const void *base, int64_t stride)
{
    tile_clear(t);
    for (int r = 0; r < tiles_are.rows[t]; r++)
        memcpy(tile_data[t][r], (const char *)base + r * stride, tiles_are.row_bytes[t]);
}

static void tile_store(int t, void *base, int64_t stride)
{
    tile_known(t);
    for (int r = 0; r < tiles_are.rows[t]; r++)
        memcpy((char *)base + r * stride, tile_data[t][r], tiles_are.row_bytes[t]);
}

/* sum [m][n] += a [m][k]·b [k][n], elements of four bytes. */
static void tile_shapes(int sum, int a, int b)
{
    tile_known(sum);
    tile_known(a);
    tile_known(b);
    tile_demand(sum != a && sum != b && a != b, "a tile is used twice");
    tile_demand(tiles_are.row_bytes[sum] % 4 == 0 && tiles_are.row_bytes[a] % 4 == 0 &&
                    tiles_are.row_bytes[b] % 4 == 0,
                "rows of part of an element");
    tile_demand(tiles_are.rows[a] == tiles_are.rows[sum], "rows differ");
    tile_demand(tiles_are.row_bytes[b] == tiles_are.row_bytes[sum], "columns differ");
    tile_demand(tiles_are.row_bytes[a] / 4 == tiles_are.rows[b], "depths differ");
}

static void tile_bytes(int sum, int a, int b)
{
    tile_shapes(sum, a, b);
    for (int m = 0; m < tiles_are.rows[sum]; m++)
        for (int k = 0; k < tiles_are.row_bytes[a] / 4; k++)
            for (int n = 0; n < tiles_are.row_bytes[sum] / 4; n++) {
                uint32_t s;
                memcpy(&s, &tile_data[sum][m][4 * n], 4);
                for (int i = 0; i < 4; i++)
                    s += (uint32_t)((int8_t)tile_data[a][m][4 * k + i] *
                                    (int8_t)tile_data[b][k][4 * n + i]);
                memcpy(&tile_data[sum][m][4 * n], &s, 4);
            }
}

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbssd
#define _tile_loadconfig(config) tiles_configure(config)
#define _tile_release() tiles_release()
#define _tile_zero(t) tile_clear(t)
#define _tile_loadd(t, base, stride) tile_load(t, base, stride)
#define _tile_stored(t, base, stride) tile_store(t, base, stride)
#define _tile_dpbssd(sum, a, b) tile_bytes(sum, a, b)

#endif
