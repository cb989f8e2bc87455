import { expect, test } from "bun:test";
import { isSubnet, routeRows } from "../../../../src/base/pure/route-table.ts";

const table = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
eth0	00000000	010011AC	0003	0	0	0	00000000	0	0	0
br-a1265333d5e9	000012AC	00000000	0001	0	0	0	0000FFFF	0	0	0
*	000012AC	00000000	0201	0	0	1650815604	0000FFFF	0	0	0
veth1	F4C1A8C0	00000000	0001	0	0	100	FCFFFFFF	0	0	0
odd
`;

test("rows of the kernel's table are subnets with their metric, and whether they refuse", () => {
  expect(routeRows(table)).toEqual([
    { subnet: "0.0.0.0/0", metric: 0, isUnreachable: false },
    { subnet: "172.18.0.0/16", metric: 0, isUnreachable: false },
    { subnet: "172.18.0.0/16", metric: 1_650_815_604, isUnreachable: true },
    { subnet: "192.168.193.244/30", metric: 100, isUnreachable: false },
  ]);
});

test("only IPv4 subnets are subnets of the table", () => {
  expect(["172.18.0.0/16", "fd00::/64", "172.18.0.1", "", "1.2.3.4/8; reboot"].map(isSubnet)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});
