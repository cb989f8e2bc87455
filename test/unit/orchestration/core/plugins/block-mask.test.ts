import { expect, test } from "bun:test";
import { MASK } from "../../../../../src/orchestration/core/mask.ts";
import { maskBlock, restoreBlock } from "../../../../../src/orchestration/core/plugins/block-mask.ts";
import { GENERATED, generatedTexts, hideGenerated } from "../../../../../src/orchestration/core/plugins/generated.ts";

const spec = {
  password: "p",
  replicas: 2,
  user: "me",
  empty_password: "",
  tls: { private_key: "k", cert: "c" },
  users: [{ name: "a", secret: "s" }],
  auth_token: "t",
};

test("what is called a secret is masked, at every depth", () => {
  expect(maskBlock(spec)).toEqual({
    password: MASK,
    replicas: 2,
    user: "me",
    empty_password: "",
    tls: { private_key: MASK, cert: "c" },
    users: [{ name: "a", secret: MASK }],
    auth_token: MASK,
  });
});

test("a mask beside an address that changed is a problem, and no stored secret goes there", () => {
  const stored = {
    password: "p",
    backup: { s3: { endpoint: "https://s3.test", secret_key: "k" } },
    mirror: [{ to: "redis://a.test", auth_token: "t" }],
  };
  const masked = maskBlock(stored);
  const told = (spec: object) => {
    const { spec: whole, problems } = restoreBlock({ ...masked, ...spec }, stored);
    return [problems.map(({ path }) => path), JSON.stringify(whole)] as const;
  };
  const [s3, s3Text] = told({ backup: { s3: { endpoint: "https://evil.test", secret_key: MASK } } });
  expect(s3).toEqual(["spec.password", "spec.backup.s3.secret_key"]);
  expect(s3Text).not.toContain('"secret_key":"k"');
  expect(told({ mirror: [{ to: "redis://b.test", auth_token: MASK }] })[0]).toContain("spec.mirror[0].auth_token");
  expect(told({ proxy: "http://evil.test" })[0]).toEqual(["spec.password"]);
  expect(told({ replicas: 3 })[0]).toEqual([]);
});

test("a mask that comes back keeps what is stored at the same place, and is told where nothing is", () => {
  expect(restoreBlock(maskBlock(spec), spec)).toEqual({ spec, problems: [] });
  const moved = restoreBlock({ other: { password: MASK } }, spec);
  expect(moved.problems).toMatchObject([{ path: "spec.other.password" }]);
  expect(restoreBlock({ password: "new" }, undefined)).toEqual({ spec: { password: "new" }, problems: [] });
});

test("in a plan, what a plugin made up is hidden, and what was known is not", () => {
  const ready = [
    {
      type: "config_set" as const,
      scope: "a",
      name: "b",
      vars: { P: "made-up-123", K: "known-4567", S: "short" },
      restart: true,
      label: "",
    },
  ];
  const texts = generatedTexts([{ config: { K: "known-4567" }, ready }]);
  expect(
    hideGenerated(
      { env: { A: "made-up-123", B: "known-4567", C: "short", D: "x made-up-123" }, l: ["made-up-123"] },
      texts,
    ),
  ).toEqual({
    env: { A: GENERATED, B: "known-4567", C: "short", D: "x made-up-123" },
    l: [GENERATED],
  });
});
