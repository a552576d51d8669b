/* The program quince-llm: one language model in one process, started by the router. */
#include "llm/llm.h"

int main(int argc, char **argv)
{
    return qn_child_main(argc, argv, &qn_llm_backend);
}
