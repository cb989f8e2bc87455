import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { cronjob, deployment, fixtureImage, job } from "../support/manifests.ts";
import { type Ask, plane } from "../support/plane.ts";
import { printing, testPlugins, writePlugin } from "../support/plugins.ts";
import { type World, world } from "../support/world.ts";

let it: World;
let ask: Ask;
beforeEach(async () => {
  it = await world({ plugins: (layout) => testPlugins(layout) });
  ask = plane(it);
  await it.apply([deployment("shop", "web"), job("shop", "report", {}), cronjob("shop", "nightly", {}, {})]);
  await it.settle();
});
afterEach(() => it.close());

/** The same question with the kind in every spelling. */
const questions = [
  ["GET /apply?name=web", "deployment"],
  ["GET /describe?name=web", "deployment"],
  ["GET /pods?name=web", "deployment"],
  ["GET /why?name=web", "deployment"],
  ["GET /events?name=web", "deployment"],
  ["GET /releases?name=web", "deployment"],
  ["GET /hooks/deliveries?name=web", "deployment"],
  ["GET /jobs/runs?name=nightly", "cronjob"],
  ["POST /scale?name=web&replicas=1", "deployment"],
  ["POST /restart?name=web&wait=false", "deployment"],
  ["DELETE /apply?name=web", "deployment"],
] as const;

describe("the kind of a query", () => {
  test.each(questions)("%s is known in any case, singular or plural", async (question, kind) => {
    const upper = kind[0]?.toUpperCase() + kind.slice(1);
    const isRead = question.startsWith("GET");
    const plain = isRead ? await ask(`${question}&kind=${kind}`) : undefined;
    if (plain !== undefined) expect({ ...plain.data, status: plain.status }).toMatchObject({ status: 200 });
    for (const spelling of [`${kind}s`, upper, `${upper}s`, `${kind}S`.toUpperCase()]) {
      const answer = await ask(`${question}&kind=${spelling}`);
      expect({ spelling, status: answer.status }).toEqual({ spelling, status: question.includes("wait") ? 202 : 200 });
      if (plain !== undefined) expect(stable(answer.data)).toEqual(stable(plain.data));
      if (question.startsWith("DELETE")) await it.apply([deployment("shop", "web")]);
    }
  });

  test("and so are kinds of plugins' blocks", async () => {
    const expanded = { kind: "statefulset", name: "main", spec: { image: fixtureImage, command: ["sleep", "9"] } };
    writePlugin(it.layout, "postgres", {
      yml: 'name: postgres\nversion: "1.2"\naliases: [pg]\n',
      commands: { expand: printing({ status: "ok", data: [expanded] }) },
    });
    await ask("POST /apply", { kind: "postgres", scope: "data", name: "main", spec: {} });
    for (const spelling of ["postgres", "Postgres", "POSTGRESES", "pg", "PG", "pgs"]) {
      const { status, data } = await ask(`GET /describe?kind=${spelling}&scope=data&name=main`);
      expect({ spelling, status }).toEqual({ spelling, status: 200 });
      expect(data.manifest).toMatchObject({ kind: "postgres" });
    }
  });
});

/** Without what differs from one moment to the next. */
function stable(data: unknown): unknown {
  return JSON.parse(JSON.stringify(data).replaceAll(/"(sampled_at|now)":"[^"]*"/g, '"$1":""'));
}
