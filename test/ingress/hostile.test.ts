import { expect, test } from "bun:test";
import fc from "fast-check";
import { changes } from "../../src/ingress/core/changes.ts";
import { checkConfig, proxySetup, temporaryFolder, writeChange } from "../support/haproxy.ts";
import { hostileTable } from "../support/hostile-tables.ts";

const cases = Number(process.env.BERTH_TEST_CASES ?? 25);

test("HAProxy accepts what is written for any table", () => {
  fc.assert(
    fc.property(hostileTable, (table) => {
      const { folder, remove } = temporaryFolder();
      try {
        // Certificates of the table are no certificates; the list of them is the concern of another test.
        const change = changes(
          undefined,
          { ...table, certificates: [], tcp: table.tcp.map((one) => ({ ...one, tlsName: undefined })) },
          proxySetup(folder),
        );
        writeChange(change);
        expect(checkConfig(folder)).toBe("");
      } finally {
        remove();
      }
    }),
    { numRuns: cases },
  );
}, 120_000);
