import { expect, test } from "bun:test";
import { expandPostgres } from "../../../../plugins/postgres/expand.ts";

const context = { envPrefix: "BERTH", newPassword: () => "s3cret" };
const ports = (spec: Record<string, unknown>, PG_EXPOSE?: string) => {
  const config: Record<string, string> = PG_EXPOSE === undefined ? {} : { PG_EXPOSE };
  const { manifests } = expandPostgres({ kind: "postgres", scope: "data", name: "main", spec, config }, context);
  return manifests.find(({ kind }) => kind === "statefulset")?.spec.ports;
};

test("an apply keeps what expose has opened, and ports of the block come first", () => {
  expect(ports({})).toEqual(["5432"]);
  expect(ports({}, "0.0.0.0:5432")).toEqual(["0.0.0.0:5432:5432"]);
  expect(ports({ port: 6000 }, "10.0.0.1:7000")).toEqual(["10.0.0.1:7000:6000"]);
  expect(ports({ ports: ["5433:5432"] }, "0.0.0.0:5432")).toEqual(["5433:5432"]);
});

test("one port leads to one pod", () => {
  expect(() => ports({ replicas: 2 }, "0.0.0.0:5432")).toThrow("replicas: one pod is exposed on 0.0.0.0:5432");
});
