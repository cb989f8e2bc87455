import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { secondsText } from "../../base/pure/duration.ts";
import { takeLock } from "../../base/sqlite/lock.ts";
import { CommandFailure, exitCodes, usageFailure } from "../../client/basics/failures.ts";
import { sayNow } from "../../client/basics/output.ts";
import { serverLimits } from "../../config/server-limits.ts";
import { report, wantsJson } from "../report.ts";
import { confirm } from "../server/confirm.ts";
import { requireRoot, thisMachine } from "../server/machine.ts";
import { answerMover } from "./arrive.ts";
import { copyFirst } from "./copy.ts";
import { type Far, openFar } from "./far.ts";
import { type Facts, factsOf, type Here, layoutHere, lookHere } from "./here.ts";
import { takeInventory } from "./inventory.ts";
import { expectedSeconds, filesOf, makePlan, planLines } from "./plan.ts";
import { parkedText, readMove } from "../parked.ts";
import { bringBack, notStarted, switchOver } from "./switch.ts";

export const moveUsage = `berth move --to ssh://root@new --plan
berth move --to ssh://root@new
berth move --undo

usage: berth move --to ssh://USER@HOST[:PORT] [--plan] [-y] [-i FILE] [--root DIR] [-o json]
       berth move --undo [--force] [-y] [-i FILE] [--root DIR]

Moves this server to another machine: state, volumes, images, certificates, users and keys. Run it
as root on the old machine; the new one has the same version of berth installed, and no apps. Shows
a plan and asks. Everything is copied while all runs; then this server stops, what has changed is
copied, and the new one starts. It acts once all that was ready here is ready there. Until the new
server acts, a move that fails or is killed leaves this one running, with all of its data.

  --to ssh://USER@HOST   the new machine: the user is root there, and ssh knows its host key
  --plan                 only show what would be done (also with -o json)
  --undo                 stop the new server, and act here again with the data as of the switch:
                         what was written on the new one is lost. To keep it, run berth move there
  --force                the new machine cannot be reached, and you made sure that it is off
  -i, --identity FILE    private key of ssh
  --root DIR             folder of all state (that of the installed server)
  -y, --yes              do not ask`;

const options = {
  to: { type: "string" },
  plan: { type: "boolean" },
  undo: { type: "boolean" },
  force: { type: "boolean" },
  identity: { type: "string", short: "i" },
  root: { type: "string" },
  yes: { type: "boolean", short: "y" },
  output: { type: "string", short: "o" },
  help: { type: "boolean", short: "h" },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];

/** `berth move`: on the old machine. `berth move here WORD` is what it runs on the new one. */
export async function moveCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const [first, word = "", ...more] = positionals;
  if (first === "here" && more.length === 0) {
    report({ json: true, data: await answerMover(word, () => Bun.stdin.text(), values.root) }, []);
    return 0;
  }
  const isWhole = (values.to !== undefined) !== (values.undo === true);
  if (values.help || first !== undefined || !isWhole) {
    sayNow(moveUsage);
    return values.help ? 0 : 2;
  }
  requireRoot("berth move");
  return values.undo ? await undo(values) : await move(values.to ?? "", values);
}

async function move(to: string, { plan: only, identity, root, yes, output }: Values): Promise<number> {
  const json = wantsJson(output);
  if (json && !only) throw usageFailure("-o json shows the plan: add --plan");
  const layout = layoutHere(root);
  const parked = readMove(layout);
  if (parked !== undefined) throw new CommandFailure(parkedText(parked));
  const here = await lookHere(layout);
  const has = await takeInventory(here);
  const far = await openFar({ to, identity });
  try {
    const asked = { images: has.images.map(({ id }) => id), ports: has.ports };
    const [ours, there] = [await factsOf(here, { images: [], ports: [] }), await far.ask<Facts>("look", asked)];
    const plan = makePlan({ to: far.shown, here: ours, there, has, spareBytes: serverLimits.moveSpareBytes });
    report({ json, data: plan }, planLines(plan));
    if (plan.problems.length > 0 && !only)
      throw new CommandFailure("the move cannot begin: see the problems above; nothing was changed");
    if (only) return plan.problems.length === 0 ? 0 : exitCodes.failed;
    confirm(thisMachine, `move this server to ${far.shown}?`, yes === true);
    await carryOut({ here, far, has, plan, identity });
    return 0;
  } finally {
    await far.close();
  }
}

interface Work {
  here: Here;
  far: Far;
  has: Awaited<ReturnType<typeof takeInventory>>;
  plan: ReturnType<typeof makePlan>;
  identity: string | undefined;
}

async function carryOut({ here, far, has, plan, identity }: Work): Promise<void> {
  const unlock = lockMoves(here);
  try {
    // Another one may have ended while this one asked.
    const parked = readMove(here.layout);
    if (parked !== undefined) throw new CommandFailure(parkedText(parked));
    const room = { here, far, has, say: thisMachine.say };
    const copies = await copyFirst(room, plan);
    const passMs = await copies.pass();
    const expected = expectedSeconds({ containers: has.containers, files: filesOf(has), passMs });
    room.say(`all files were compared again in ${secondsText(passMs)}; the switch takes about ${expected} s`);
    const tookMs = await switchOver(room, copies, identity && resolve(identity));
    room.say(`moved: the switch took ${secondsText(tookMs)}, expected were ${expected} s; ${far.shown} acts`);
    thisMachine.note(
      `lead DNS records and floating addresses to ${far.shown}; until then, visitors of this machine get 503`,
    );
    thisMachine.note("this server waits; to go back: berth move --undo; when you are done: berth server uninstall");
  } finally {
    unlock();
  }
}

function lockMoves({ layout }: Pick<Here, "layout">): () => void {
  try {
    return takeLock(`${layout.lock}.move`, layout.root);
  } catch (cause) {
    throw new CommandFailure(`another berth move of this server is under way: ${String(cause)}`);
  }
}

async function undo({ root, identity, force, yes }: Values): Promise<number> {
  const layout = layoutHere(root);
  const record = readMove(layout);
  if (record?.phase !== "moved")
    throw new CommandFailure(record === undefined ? "nothing to undo: this server acts" : parkedText(record));
  const lost = `stop the server on ${record.peer}, and act here with the data as of the switch? What was written there is lost.`;
  confirm(thisMachine, lost, yes === true);
  const unlock = lockMoves({ layout });
  let far: Far | undefined;
  try {
    const here = await lookHere(layout);
    far = force
      ? undefined
      : await openFar({ to: record.peer, identity: identity ?? record.identity }).catch(unreached);
    const acts = await bringBack({ here, far }, record);
    sayNow(acts ? `this server acts again; ${record.peer} does not` : notStarted);
    return acts ? 0 : exitCodes.failed;
  } finally {
    await far?.close();
    unlock();
  }
}

function unreached(cause: unknown): never {
  const why = cause instanceof Error ? cause.message : String(cause);
  const way =
    "nothing was changed, for two servers must never act. If you made sure that it is off: berth move --undo --force";
  throw new CommandFailure(`${why}\n${way}`, exitCodes.unreachable);
}
