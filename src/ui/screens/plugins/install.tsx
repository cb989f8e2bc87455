import { useState } from "preact/hooks";
import { installPlugin } from "../../../orchestration/api/plugins.ts";
import { api, faultText } from "../../data/api.ts";
import { lacks } from "../../data/session.ts";
import { Button } from "../../parts/button.tsx";
import { ask } from "../../parts/dialog.tsx";
import { Note } from "../../parts/notes.tsx";
import { say } from "../../data/notices.ts";
import { previewConsequences, previewOf } from "../../text/plugins.ts";

/** Where a plugin comes from. What it asks for is shown before anything of it is installed. */
export function InstallForm({ again }: { again: () => void }) {
  const [source, setSource] = useState("");
  const [version, setVersion] = useState("");
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState("");
  const missing = lacks("admin");
  const look = async () => {
    setBusy(true);
    setFault("");
    try {
      await askInstall({ source: source.trim(), version: version.trim(), again });
    } catch (error) {
      setFault(faultText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section class="section">
      <h2>Install a plugin</h2>
      <form
        class="card inset row wrap low"
        onSubmit={(event) => {
          event.preventDefault();
          void look();
        }}
      >
        <div class="field">
          <label for="source">Source</label>
          <input
            id="source"
            class="input mono"
            placeholder="owner/repo, git URL"
            value={source}
            onInput={(event) => setSource(event.currentTarget.value)}
          />
        </div>
        <div class="field">
          <label for="version">Version</label>
          <input
            id="version"
            class="input mono"
            placeholder="the newest"
            value={version}
            onInput={(event) => setVersion(event.currentTarget.value)}
          />
        </div>
        <Button submits hindrance={missing} disabled={busy || source.trim() === ""}>
          {busy ? "Fetching…" : "Show what it asks for"}
        </Button>
      </form>
      {fault === "" ? null : <Note tone="bad">{fault}</Note>}
    </section>
  );
}

interface Wish {
  source: string;
  version: string;
  again: () => void;
}

async function askInstall({ source, version, again }: Wish): Promise<void> {
  const wanted = version === "" ? { source } : { source, version };
  const shown = previewOf(await api.call(installPlugin, { body: { ...wanted, preview: true } }));
  if (shown === undefined) return;
  const replace = shown.replaces === undefined ? {} : { replace: true };
  ask({
    title: `Install the plugin ${shown.name}`,
    verb: "Install",
    danger: shown.grant.docker || shown.grant.root !== false,
    command: `berth plugins install ${source}${version === "" ? "" : ` --version ${version}`}`,
    effects: previewConsequences(shown),
    run: async () => {
      await api.call(installPlugin, { body: { ...wanted, ...replace, expect: shown.digest } });
      say(`${shown.name} is installed`);
      again();
    },
  });
}
