import { useState } from "preact/hooks";
import type { AppDetail } from "../../../observability/api/apps.ts";
import type { Place } from "../../data/terminal.ts";
import { may } from "../../data/session.ts";
import { go, query, withQuery } from "../../browser/router.ts";
import { Button } from "../../parts/button.tsx";
import { Effects } from "../../parts/dialog.tsx";
import { Denied, Empty } from "../../parts/notes.tsx";
import { ReplicaChoice } from "../../parts/replica-choice.tsx";
import { TerminalView } from "../../parts/terminal/view.tsx";
import { commandOf } from "../../text/shell.ts";

/** The word of the address for a container of its own. */
const own = "new";

interface Open {
  place: Place;
  command: string[];
  label: string;
  same: string;
  round: number;
}

/** A shell, or one command, in a replica or in a container of its own. */
export function Terminal({ app }: { app: AppDetail }) {
  const [text, setText] = useState("");
  const [open, setOpen] = useState<Open | undefined>(undefined);
  if (!may("exec")) return <Denied scope="exec" />;
  const running = app.replicas.filter(({ state }) => state !== "exited" && state !== "stopped");
  const wanted = query.value.get("replica") ?? running[0]?.replica_id ?? own;
  const replica = running.find(({ replica_id: id }) => id === wanted);
  const isOwn = wanted === own;
  const start = () => {
    const { scope, name, kind } = app;
    const words = text.trim() === "" ? "sh" : `sh -c ${JSON.stringify(text)}`;
    const round = (open?.round ?? 0) + 1;
    if (isOwn) {
      const label = "a container of its own";
      const same = `berth run ${scope}/${name} -- ${words}`;
      setOpen({ place: { scope, name, kind }, command: commandOf(text), label, same, round });
    } else if (replica !== undefined) {
      const same = `berth exec -it ${scope}/${name}.${replica.replica_id} -- ${words}`;
      setOpen({ place: { pod: replica.pod }, command: commandOf(text), label: replica.replica_id, same, round });
    }
  };
  return (
    <section class="section">
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
      >
        <ReplicaChoice
          replicas={running}
          chosen={wanted}
          also={[own, "a container of its own"]}
          onChoose={(id) => go(withQuery({ replica: id }))}
        />
        <label class="row grows">
          <span class="label">Command</span>
          <input
            class="input mono"
            value={text}
            placeholder="a shell"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <Button
          submits
          look={open === undefined ? "main" : "bare"}
          disabled={!isOwn && replica === undefined}
          title={open === undefined ? undefined : "Ends the session below, and what runs in it"}
        >
          {open === undefined ? "Open" : "Open another"}
        </Button>
      </form>
      {open === undefined ? (
        <Before isOwn={isOwn} runs={replica !== undefined} />
      ) : (
        <TerminalView key={open.round} {...open} onAgain={start} />
      )}
    </section>
  );
}

/** What stands there before a session is open. */
function Before({ isOwn, runs }: { isOwn: boolean; runs: boolean }) {
  if (!isOwn && !runs)
    return (
      <Empty title="This replica does not run">
        <p>Choose another one, or a container of its own.</p>
      </Empty>
    );
  return (
    <div class="card padded">
      <Effects list={isOwn ? ownEffects : replicaEffects} />
    </div>
  );
}

const replicaEffects = [
  { text: "The command runs beside the app, with its user, its files and its config", ends: false },
  { text: "What it breaks is broken for visitors of this replica", ends: true },
  { text: "What it changes on disk is gone with the replica, except on volumes", ends: true },
  { text: "The audit trail has the command and its exit code, and nothing that you type" },
];

const ownEffects = [
  { text: "A container is made like one of the app, with its image, config and volumes, and serves no visitors" },
  { text: "The container is removed after the command; what it changes on volumes and in databases stays", ends: true },
  { text: "The audit trail has the command and its exit code, and nothing that you type" },
];
