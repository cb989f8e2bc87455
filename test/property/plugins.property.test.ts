import { expect, test } from "bun:test";
import fc from "fast-check";
import { limits } from "../../src/config/config.ts";
import { decodeActions } from "../../src/orchestration/core/plugins/actions.ts";
import { maskBlock, restoreBlock } from "../../src/orchestration/core/plugins/block-mask.ts";
import { bareData, failureText, readReply } from "../../src/orchestration/core/plugins/envelope.ts";
import { readExpansion, takePin } from "../../src/orchestration/core/plugins/expansion.ts";
import { permissionProblems } from "../../src/orchestration/core/plugins/permissions.ts";
import { actionTypes } from "../../src/orchestration/api/plugins/action.ts";
import { coreKinds, type Spec } from "../../src/orchestration/api/manifest.ts";

const json = fc.jsonValue({ maxDepth: 4 });
const text = fc.oneof(
  fc.string(),
  json.map((value) => JSON.stringify(value)),
);
const word = fc.constantFrom("data", "main", "", "../x", "a b", "registry");
const block = { index: 0, kind: "pg", scope: "data", name: "main", spec: {} };

/** Objects that look like actions, some of them right. */
const action = fc.record(
  {
    type: fc.oneof(fc.constantFrom(...actionTypes), json),
    scope: fc.oneof(word, json),
    name: fc.oneof(word, json),
    kind: fc.oneof(fc.constantFrom(...coreKinds, "app", "pg"), json),
    kv: fc.oneof(fc.dictionary(fc.string(), fc.string()), json),
    keys: fc.oneof(fc.array(fc.string()), json),
    manifest: fc.oneof(fc.record({ kind: word, scope: word, name: word, spec: fc.constant({}) }), json),
    command: fc.oneof(fc.array(fc.string()), json),
    remote_path: fc.oneof(word, json),
    dest_path: fc.oneof(word, json),
    skip_restart: fc.oneof(fc.boolean(), json),
    summary: fc.oneof(fc.string(), json),
  },
  { requiredKeys: ["type"] },
);

test("whatever is printed is read, and says why where it cannot be used", () => {
  fc.assert(
    fc.property(text, text, (stdout, stderr) => {
      const reply = readReply(stdout, limits);
      expect(["ok", "error", "text", "broken"]).toContain(reply.type);
      expect(failureText(reply, stderr).length).toBeLessThan(5_000_000);
      bareData(stdout);
    }),
  );
});

test("an envelope comes back as it was written", () => {
  const safe = fc.jsonValue({ maxDepth: 3, noUnicodeString: true });
  fc.assert(
    fc.property(safe, (data) => {
      const reply = readReply(JSON.stringify({ status: "ok", data }), limits);
      if (reply.type === "ok") expect(reply.data).toEqual(data === null ? undefined : JSON.parse(JSON.stringify(data)));
      else expect(reply.type).toBe("broken");
    }),
  );
});

test("of actions, each is planned or has a problem, and what is planned has a scope and a name that can be", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(action, json), { maxLength: 8 }), (list) => {
      const { actions, problems } = decodeActions(list, limits);
      const wrong = new Set(problems.map(({ path }) => /^actions\[(\d+)\]/.exec(path)?.[1]));
      expect(actions.length + wrong.size).toBe(list.length);
      for (const planned of actions) {
        expect(planned.label).not.toBe("");
        if ("name" in planned) expect(planned.name).toMatch(/^[a-z0-9]/);
      }
    }),
  );
});

test("without grants nothing is allowed; with everything nothing is refused", () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 6 }), (list) => {
      const { actions } = decodeActions(list, limits);
      const none = permissionProblems(actions, { actions: [], scopes: [], docker: false }, () => undefined);
      expect(none).toHaveLength(actions.length);
      const all = { actions: [...actionTypes], scopes: ["*"], docker: true };
      expect(permissionProblems(actions, all, () => undefined)).toEqual([]);
    }),
  );
});

test("whatever an expansion is, it is read; what comes out is of core kinds", () => {
  fc.assert(
    fc.property(fc.oneof(json, fc.record({ manifests: fc.array(json), actions: json })), (data) => {
      const { manifests, problems } = readExpansion(data, block, limits);
      for (const { kind, scope } of manifests) {
        expect(coreKinds).toContain(kind);
        if (problems.length === 0 && kind !== "registry") expect(scope).not.toBe("");
      }
    }),
  );
});

test("a masked block that is applied again is the block", () => {
  const spec = fc.dictionary(fc.constantFrom("password", "replicas", "token", "list", "user"), json);
  fc.assert(
    fc.property(spec, (fields) => {
      const { spec: stripped } = takePin(fields as Spec);
      const { spec: restored, problems } = restoreBlock(maskBlock(stripped), stripped);
      expect(problems).toEqual([]);
      expect(restored).toEqual(stripped);
    }),
  );
});
