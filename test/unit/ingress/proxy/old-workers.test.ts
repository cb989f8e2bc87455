import { expect, test } from "bun:test";
import { oldWorkersOf } from "../../../../src/ingress/proxy/old-workers.ts";

const listing = `#<PID>          <type>          <reloads>       <uptime>        <version>
1162            master          5               0d00h02m07s     2.6.12
# workers
1271            worker          0               0d00h00m00s     2.6.12
# old workers
1233            worker          3               0d00h00m43s     2.6.12
1240            worker          1               0d00h00m40s     2.6.12
# programs
1250            log             1               0d00h00m40s     -
`;

test("only the workers that were replaced are listed", () => {
  expect(oldWorkersOf(listing)).toEqual(["1233", "1240"]);
});

test("an empty answer is no worker", () => {
  expect(oldWorkersOf("")).toEqual([]);
});
