import { useState } from "preact/hooks";
import { Page } from "../frame/page.tsx";
import { Button } from "../parts/button.tsx";
import { Chart } from "../parts/chart.tsx";
import { ask } from "../parts/dialog.tsx";
import { Shown } from "../parts/loaded.tsx";
import { LogList } from "../parts/log-list.tsx";
import { Meter } from "../parts/meter.tsx";
import { Empty, Loading, Note } from "../parts/notes.tsx";
import { Spark } from "../parts/spark.tsx";
import { Badge, State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Ago } from "../parts/time.tsx";
import { say } from "../data/notices.ts";
import type { Tone } from "../text/states.ts";

const tones: readonly Tone[] = ["good", "work", "warn", "bad", "idle"];
const colours = [
  "paper",
  "card",
  "sunk",
  "hover",
  "ink",
  "soft",
  "faint",
  "line",
  "edge",
  "accent",
  "good",
  "work",
  "warn",
  "bad",
];
const wave = Array.from({ length: 60 }, (_, index) => 20 + Math.sin(index / 4) * 12 + (index > 44 ? 25 : 0));
const times = wave.map((_, index) => 1_767_355_200 + index * 15);
const later = () => undefined;

/** Every part of the UI in every state, for people who add a screen. What it shows is made up and says so. */
export function Screen() {
  return (
    <Page title="Components" beside={<Badge text="made-up figures" />} command="berth ui">
      <Colours />
      <div class="columns">
        <Words />
        <States />
      </div>
      <Logs />
      <Chart
        label="Chart"
        times={times}
        series={[{ name: "shop/web", values: wave, colour: "var(--accent)" }]}
        text={(value) => `${value.toFixed(0)} %`}
        marks={[{ at: times[44] ?? 0, text: "deploy" }]}
        onZoom={later}
      />
    </Page>
  );
}

function Colours() {
  return (
    <section class="section">
      <h2>Colours</h2>
      <div class="row">
        {colours.map((name) => (
          <span key={name} class="row small soft">
            <i
              class="card"
              style={{ width: "22px", height: "22px", display: "inline-block", background: `var(--${name})` }}
            />
            {name}
          </span>
        ))}
      </div>
    </section>
  );
}

function Words() {
  return (
    <section class="section">
      <h2>Buttons, states, tables</h2>
      <div class="row">
        <Button look="main" onClick={() => say("The action has begun", "work")}>
          Main
        </Button>
        <Button onClick={() => say("This stays until it is closed", "bad")}>Plain</Button>
        <Button look="danger" onClick={askSample}>
          Ends something…
        </Button>
        <Button look="bare">Bare</Button>
        <Button disabled title="This needs the scope actions">
          Not permitted
        </Button>
      </div>
      <div class="row">
        {tones.map((tone) => (
          <State key={tone} tone={tone} text={tone} />
        ))}
        {tones.map((tone) => (
          <Badge key={tone} tone={tone} text={tone} />
        ))}
      </div>
      <Tabs
        label="Sample"
        current="/components"
        tabs={[
          { title: "Here", href: "/components" },
          { title: "There", href: "/" },
        ]}
      />
      <Table
        label="Sample"
        keyOf={(row) => row}
        rows={tones}
        columns={[
          { title: "State", cell: (tone) => <State tone={tone} text={tone} /> },
          { title: "Since", cell: () => <Ago at={new Date().toISOString()} /> },
          { title: "Line", cell: () => <Spark points={wave} label="sample" /> },
          { title: "Memory", right: true, cell: () => "128 MiB" },
        ]}
      />
      {[0.3, 0.85, 0.95].map((part) => (
        <Meter key={part} part={part} whole={1} label="sample" />
      ))}
      <div class="field">
        <label for="sample">A field</label>
        <input id="sample" class="input" placeholder="shop/web" />
      </div>
    </section>
  );
}

function askSample(): void {
  ask({
    title: "Delete shop/web",
    verb: "Delete",
    danger: true,
    type: "shop/web",
    command: "berth delete deployment/shop/web",
    effects: [
      { text: "3 replicas stop, the last at once", ends: true },
      { text: "shop.example.com answers 404", ends: true },
      { text: "The volume shop_uploads stays" },
    ],
    run: async () => {
      throw new Error("This is a sample: nothing was deleted");
    },
  });
}

function States() {
  return (
    <section class="section">
      <h2>What a screen can be in</h2>
      <Loading label="the sample" />
      <Empty title="No deploys yet">
        <p>The first one shows here.</p>
      </Empty>
      <Shown of={{ fault: "the engine cannot be reached", again: later }} label="the replicas">
        {() => null}
      </Shown>
      <Shown of={{ denied: true, again: later }} label="the audit" scope="admin">
        {() => null}
      </Shown>
      <Shown
        of={{ data: 3, at: Date.now() - 90_000, fault: "The server does not answer.", again: later }}
        label="3 replicas"
      >
        {() => <p class="card empty">what was there before stays</p>}
      </Shown>
      <Note tone="bad">shop/web dies again and again: exit code 1</Note>
      <Note tone="work">A deploy is under way</Note>
    </section>
  );
}

const lines = Array.from({ length: 20_000 }, (_, id) => ({
  id,
  at: 1_767_355_200_000 + id * 40,
  replica: "abcde",
  text:
    id % 50 === 7 ? `ERROR request ${id} failed: connection refused` : `GET /products/${id} 200 in ${(id * 7) % 90} ms`,
}));

function Logs() {
  const [follow, setFollow] = useState(true);
  return (
    <section class="section">
      <h2>20,000 lines of a log</h2>
      <LogList label="Sample log" lines={lines} wanted="refused" follow={follow} onFollow={setFollow} />
    </section>
  );
}
