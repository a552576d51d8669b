/* Recipes as Lemonade's API names them and the engines that can run each: what is here, what is not
 * and why. Pure. */
#ifndef QN_ROUTER_RECIPES_H
#define QN_ROUTER_RECIPES_H

#include "base/json.h"

/* Writes "recipes" of an open object. backend_dir: where quince's own engines lie. */
void qn_recipes_write(struct qn_jw *w, const char *backend_dir);

#endif
