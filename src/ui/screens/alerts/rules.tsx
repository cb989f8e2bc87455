import { listRules, putRule, type Rule } from "../../../observability/api/alert-rules.ts";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/load.ts";
import { lacks } from "../../data/session.ts";
import { Button } from "../../parts/button.tsx";
import { ask } from "../../parts/dialog.tsx";
import { Shown } from "../../parts/loaded.tsx";
import { State } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { ruleBody, severityTone, watchText } from "../../text/alerts.ts";

/** What is watched: the default pack and the rules that were added. */
export function Rules() {
  const loaded = useLoad("alert-rules", (signal) => api.call(listRules, { signal }));
  return (
    <Shown of={loaded} label="the rules">
      {({ rules }) => (
        <>
          <p class="small soft">
            {"Add one with "}
            <code>berth alerts rules set NAME --help</code>
          </p>
          <Table
            label="Rules"
            rows={rules}
            keyOf={({ name }) => name}
            columns={[
              { title: "State", cell: stateOf },
              { title: "Rule", cell: ({ name, origin }) => (origin === "default" ? name : `${name} (${origin})`) },
              { title: "Severity", cell: ({ severity }) => <State tone={severityTone(severity)} text={severity} /> },
              { title: "Watches", cell: ({ watch }) => watchText(watch) },
              { title: "For", right: true, cell: (rule) => rule.for },
              {
                title: "",
                right: true,
                cell: (rule) => (
                  <Button look="bare" hindrance={lacks("actions")} onClick={() => askSwitch(rule, loaded.again)}>
                    {rule.enabled ? "Turn off" : "Turn on"}
                  </Button>
                ),
              },
            ]}
          />
        </>
      )}
    </Shown>
  );
}

function stateOf({ enabled, firing, problem }: Rule) {
  if (!enabled) return <State tone="idle" text="off" />;
  if (problem !== undefined) return <State tone="warn" text="blind" title={problem} />;
  return firing === 0 ? <State tone="good" text="well" /> : <State tone="bad" text={`${firing} firing`} />;
}

function askSwitch(rule: Rule, again: () => void): void {
  const { name, enabled } = rule;
  ask({
    title: `Turn the rule ${name} ${enabled ? "off" : "on"}`,
    verb: enabled ? "Turn off" : "Turn on",
    danger: enabled,
    command: `berth alerts rules ${enabled ? "disable" : "enable"} ${name}`,
    effects: enabled
      ? [{ text: "It watches nothing any more, and its alerts end", ends: true }]
      : [{ text: "It is evaluated from now on" }],
    run: async () => {
      await api.call(putRule, { params: { name }, body: ruleBody({ ...rule, enabled: !enabled }) });
      again();
    },
  });
}
