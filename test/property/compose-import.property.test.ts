import { expect, test } from "bun:test";
import fc from "fast-check";
import { parse, stringify } from "yaml";
import { noComments } from "../../src/client/manifests/convert/comments.ts";
import { writeManifests } from "../../src/client/manifests/convert/convert.ts";
import { writeYaml } from "../../src/client/manifests/convert/yaml.ts";
import { readCompose } from "../support/compose.ts";

const cases = Number(process.env.BERTH_TEST_CASES ?? 150);

const scalar = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom("a:b", "./x:/y:ro", "80:80", "1-5:1-5", "${A:-b}", "${", "$A", "CMD-SHELL x", "1m"),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const anything = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.dictionary(fc.string({ maxLength: 6 }), fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })), { maxKeys: 3 }),
);
const keys = fc.constantFrom(
  ...[
    "image",
    "build",
    "command",
    "entrypoint",
    "environment",
    "env_file",
    "ports",
    "volumes",
    "healthcheck",
    "restart",
  ],
  ...[
    "deploy",
    "scale",
    "cpus",
    "mem_limit",
    "cap_add",
    "extra_hosts",
    "ulimits",
    "network_mode",
    "networks",
    "logging",
  ],
  ...["labels", "profiles", "depends_on", "user", "init", "sysctls", "shm_size", "constructor", "x-y", "other"],
);
const service = fc.oneof(anything, fc.dictionary(keys, anything, { maxKeys: 6 }));
const file = fc.record(
  {
    name: scalar,
    services: fc.oneof({ weight: 9, arbitrary: fc.dictionary(fc.string({ maxLength: 6 }), service) }, anything),
    volumes: anything,
    networks: anything,
  },
  { requiredKeys: ["services"] },
);

const files = { "x/a.conf": "", y: "" };

test("no Compose file makes the import fail; what it prints is YAML", () => {
  fc.assert(
    fc.property(file, file, fc.boolean(), fc.constantFrom("", "docker"), (value, changes, complete, folder) => {
      const over = stringify(changes);
      const { manifests, faults } = readCompose(stringify(value), { files, known: { complete }, over: [over], folder });
      expect(manifests.length === 0 || faults.length === 0).toBe(true);
      for (const manifest of manifests) {
        const text = writeManifests(
          [writeYaml({ manifest, comments: noComments, refuse: () => undefined })],
          [],
          "yaml",
          "x",
        );
        expect(parse(text, { logLevel: "silent" }).name).toBe(manifest.name);
      }
    }),
    { numRuns: cases },
  );
});
