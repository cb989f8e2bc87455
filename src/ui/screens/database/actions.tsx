import { signal } from "@preact/signals";
import type { BlockView } from "../../../observability/api/plugins.ts";
import { Button } from "../../parts/button.tsx";
import { ask } from "../../parts/dialog.tsx";
import type { DatabaseFacts } from "../../text/databases.ts";
import { bytesText } from "../../text/figures.ts";
import { begin, commandOf, has, missing, named } from "./of.ts";

interface Of {
  block: BlockView;
  /** Undefined until the database has answered. */
  facts: DatabaseFacts | undefined;
}

/** What can be done with a database. Each button says first what it will do. */
export function DatabaseButtons({ block, facts }: Of) {
  const promote = has(block, "failover") ? "failover" : "promote";
  const standbys = facts?.pods.filter(({ role }) => role === "standby") ?? [];
  const one = (block.desired === 1 ? undefined : "Only a database with one pod can have an open port") ?? "";
  const wait = facts === undefined ? "The database has not answered yet" : undefined;
  return (
    <>
      <Offer block={block} command="backup" onClick={() => askBackup(block)} text="Back up now…" />
      <Offer
        block={block}
        command={promote}
        why={wait ?? (standbys.length === 0 ? "No standby answers that could become primary" : undefined)}
        onClick={() => (facts === undefined ? undefined : askPromote(block, promote, facts))}
        text="Promote a standby…"
      />
      {facts?.exposed === undefined ? (
        <Offer
          block={block}
          command="expose"
          why={wait ?? (one || undefined)}
          onClick={() => askExpose(block)}
          text="Open a port…"
        />
      ) : (
        <Offer
          block={block}
          command="unexpose"
          onClick={() => askUnexpose(block, facts.exposed)}
          text="Close the port…"
        />
      )}
    </>
  );
}

interface OfferProps {
  block: BlockView;
  command: string;
  text: string;
  why?: string | undefined;
  onClick: () => void;
}

function Offer({ block, command, text, why, onClick }: OfferProps) {
  const reason = missing(block, command) ?? why;
  return (
    <Button hindrance={reason} onClick={onClick}>
      {text}
    </Button>
  );
}

function askBackup(block: BlockView): void {
  ask({
    title: `Back up ${named(block)} now`,
    verb: "Back up",
    command: commandOf(block, "backup"),
    effects: [
      { text: "All data is copied into a backup on this machine, which takes disk and time" },
      { text: "The backup is restored once into a scratch database, to see that it can be" },
      { text: "The oldest backups beyond the number to keep are deleted", ends: true },
      { text: "The database serves meanwhile" },
    ],
    run: () => begin(block, "backup"),
  });
}

function askPromote(block: BlockView, command: string, { pods, primary }: DatabaseFacts): void {
  const standbys = pods.filter(({ role }) => role === "standby");
  const target = signal(standbys[0]?.ordinal ?? 0);
  ask({
    title: `Promote a standby of ${named(block)}`,
    verb: "Promote",
    danger: true,
    type: named(block),
    command: commandOf(block, `${command} --replica N`),
    effects: [
      { text: `Pod ${primary ?? "?"}, primary now, is stopped: writes fail until the new one takes over`, ends: true },
      { text: "The standby gets every write before the switch, or nothing is changed" },
      { text: "Linked apps get the new URL and restart", ends: true },
      { text: "The old primary comes back as a standby" },
    ],
    body: () => (
      <div class="field">
        <label for="standby">The new primary</label>
        <select
          id="standby"
          class="input"
          value={String(target.value)}
          onChange={(event) => {
            target.value = Number(event.currentTarget.value);
          }}
        >
          {standbys.map(({ ordinal, behind }) => (
            <option key={ordinal} value={String(ordinal)}>
              {`pod ${ordinal}${behind === undefined ? "" : `, ${bytesText(behind)} behind`}`}
            </option>
          ))}
        </select>
      </div>
    ),
    run: () => begin(block, command, ["--replica", String(target.value)]),
  });
}

function askExpose(block: BlockView): void {
  const address = signal("127.0.0.1");
  const port = signal("");
  ask({
    title: `Open a port of the machine to ${named(block)}`,
    verb: "Open the port",
    danger: true,
    command: commandOf(block, "expose --address A --port N"),
    effects: [
      { text: "The pod is recreated: connections break and come back", ends: true },
      { text: "With another address than 127.0.0.1, other machines reach the database as well", ends: true },
      { text: `To reach it from your own machine without this: berth port-forward ${named(block)} PORT` },
    ],
    body: () => (
      <>
        <div class="field">
          <label for="address">Address of this machine</label>
          <input
            id="address"
            class="input mono"
            value={address.value}
            onInput={(event) => {
              address.value = event.currentTarget.value;
            }}
          />
        </div>
        <div class="field">
          <label for="port">Port (that of the server, where left out)</label>
          <input
            id="port"
            class="input mono"
            inputMode="numeric"
            value={port.value}
            onInput={(event) => {
              port.value = event.currentTarget.value;
            }}
          />
        </div>
      </>
    ),
    run: () => {
      const own = port.value.trim() === "" ? [] : ["--port", port.value.trim()];
      return begin(block, "expose", ["--address", address.value.trim(), ...own]);
    },
  });
}

function askUnexpose(block: BlockView, exposed: string | undefined): void {
  ask({
    title: `Close the port of ${named(block)}`,
    verb: "Close the port",
    danger: true,
    command: commandOf(block, "unexpose"),
    effects: [
      { text: `${exposed ?? "The port"} leads nowhere any more: clients outside lose the database`, ends: true },
      { text: "The pod is recreated: connections break and come back", ends: true },
    ],
    run: () => begin(block, "unexpose"),
  });
}
