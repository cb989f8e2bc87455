import { expect, test } from "bun:test";
import fc from "fast-check";
import { durationMaxMs, formatDuration, parseDuration } from "../../src/base/pure/duration.ts";
import { parseDockerOptions } from "../../src/orchestration/core/docker-options.ts";
import { parseImageReference } from "../../src/orchestration/core/image-reference.ts";
import { nameOk, scopeOk } from "../../src/orchestration/core/identity.ts";
import { parsePort } from "../../src/orchestration/core/ports.ts";
import { formatCpu, formatMemory, parseCpu, parseMemory } from "../../src/base/pure/quantity.ts";
import { placeholdersIn, substitute } from "../../src/orchestration/core/placeholders.ts";
import { replicaId } from "../../src/base/pure/replica-id.ts";
import { editDistance } from "../../src/base/pure/suggest.ts";
import { parseVolume } from "../../src/orchestration/core/volumes.ts";
import { formatImageReference } from "../support/image-reference.ts";

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom(..."0123456789.:/[]-@$%{}asdhmgKMGi=\n\0 ") }),
);

test("durations read back", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: durationMaxMs }), (ms) => {
      expect(parseDuration(formatDuration(ms))).toBe(ms);
    }),
  );
});

test("quantities read back", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e15 }), (value) => {
      expect(parseCpu(formatCpu(value % 1e12 || 1))).toBe(value % 1e12 || 1);
      expect(parseMemory(formatMemory(value))).toBe(value);
    }),
  );
});

test("no text makes a reader throw, and what is read is in range", () => {
  fc.assert(
    fc.property(text, (input) => {
      for (const value of [parseCpu(input), parseMemory(input)]) {
        if (value !== undefined) expect(value > 0 && Number.isSafeInteger(value)).toBe(true);
      }
      const ms = parseDuration(input);
      if (ms !== undefined) expect(ms >= 0 && ms <= durationMaxMs).toBe(true);
      const port = parsePort(input);
      if (port.ok) expect(port.value.containerPort > 0 && port.value.containerPort < 65_536).toBe(true);
      const volume = parseVolume(input);
      if (volume.ok) expect(volume.value.target.split("/")).not.toContain("..");
      expect(() => parseDockerOptions([input, `--${input}`], "spec.docker_options")).not.toThrow();
      if (nameOk(input) || scopeOk(input)) expect(input).toMatch(/^[a-z0-9._-]+$/);
    }),
  );
});

test("an image reference in full form is its own full form", () => {
  const part = fc.stringMatching(/^[a-z0-9]{1,8}$/);
  const host = fc.constantFrom("", "localhost/", "r.test/", "r.test:5000/", "docker.io/");
  const tag = fc.constantFrom("", ":1", ":latest", `@sha256:${"b".repeat(64)}`);
  fc.assert(
    fc.property(host, fc.array(part, { minLength: 1, maxLength: 3 }), tag, (registry, path, suffix) => {
      const image = parseImageReference(`${registry}${path.join("/")}${suffix}`);
      if (image === undefined) throw new Error("a well-formed reference was not read");
      const full = formatImageReference(image);
      expect(parseImageReference(full)).toMatchObject({ registry: image.registry, repository: image.repository });
      expect(formatImageReference(parseImageReference(full) ?? image)).toBe(full);
    }),
  );
});

test("substitution visits exactly the placeholders that are found, and touches nothing else", () => {
  const inner = ["asset.a.b", "asset.s.a.b", "ref.a.b.c", "HOME", "asset.", ""].map((name) => `\${${name}}`);
  const piece = fc.oneof(text, fc.constantFrom(...inner));
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const input = pieces.join("");
      const seen: string[] = [];
      const same = substitute(input, (placeholder) => {
        seen.push(placeholder.text);
        return undefined;
      });
      expect(same).toBe(input);
      expect(seen).toEqual(placeholdersIn(input).map((placeholder) => placeholder.text));
    }),
  );
});

test("edit distance is a symmetric count of edits", () => {
  const word = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(word, word, (a, b) => {
      const distance = editDistance(a, b);
      expect(distance).toBe(editDistance(b, a));
      expect(distance === 0).toBe(a === b);
      expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
    }),
  );
});

test("replica ids never look like ordinals", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 5, maxLength: 8 }), (bytes) => {
      expect(replicaId(bytes)).toMatch(/^[a-z][a-z2-7]{4}$/);
    }),
  );
});
