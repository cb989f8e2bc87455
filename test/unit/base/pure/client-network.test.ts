import { expect, test } from "bun:test";
import { clientNetwork } from "../../../../src/base/pure/client-network.ts";

test.each([
  ["203.0.113.7", "203.0.113.7", undefined],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1::/48"],
  ["2001:0DB8:0001:0002::6", "2001:db8:1:2::/64", "2001:db8:1::/48"],
  ["2001:db8::1", "2001:db8:0:0::/64", "2001:db8:0::/48"],
  ["2001:db8:1:2::/64", "2001:db8:1:2::/64", "2001:db8:1::/48"],
  ["fe80::1%eth0", "fe80:0:0:0::/64", "fe80:0:0::/48"],
  ["::1", "0:0:0:0::/64", "0:0:0::/48"],
  ["::ffff:102:304", "::ffff:102:304", undefined],
  ["::ffff:1.2.3.4", "::ffff:1.2.3.4", undefined],
  ["", "", undefined],
  ["unknown", "unknown", undefined],
  ["1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8:9", undefined],
])("%s is counted as %s", (ip, near, wide) => {
  expect(clientNetwork(ip)).toEqual({ near, wide: wide as string });
});
