#include "bridge/bridge.h"
#include "child/serve.h"

int main(int argc, char **argv)
{
    return qn_child_main(argc, argv, &qn_bridge_backend);
}
