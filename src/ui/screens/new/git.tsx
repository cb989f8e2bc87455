import { useState } from "preact/hooks";
import { fetchAppSource } from "../../../observability/api/sources.ts";
import type { Source } from "../../../orchestration/api/sources.ts";
import { api, faultText } from "../../data/api.ts";
import { lacks } from "../../data/session.ts";
import { Button } from "../../parts/button.tsx";
import { Note } from "../../parts/notes.tsx";
import { namedAfter } from "../../text/manifest-text.ts";

const fields = [
  ["url", "Repository, https", "https://git.example.com/shop.git"],
  ["ref", "Branch, tag or commit; empty for the usual branch", "main"],
  ["folder", "Folder of the repository; empty for all of it", "apps/web"],
  ["token_key", "Private: key of the app's config with a token", "GIT_TOKEN"],
] as const;

type Asked = Record<(typeof fields)[number][0], string>;

/** A commit of a repository that the server can reach. An app without a name gets that of its folder or repository. */
export function Git({ app, onSource }: { app: { scope: string; name: string }; onSource: (source: Source) => void }) {
  const [asked, setAsked] = useState<Asked>({ url: "", ref: "", folder: "", token_key: "" });
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState("");
  const run = async () => {
    setBusy(true);
    setFault("");
    const words = Object.fromEntries(Object.entries(asked).filter(([, word]) => word !== ""));
    try {
      onSource(
        await api.call(fetchAppSource, {
          body: { ...namedAfter(app, asked.folder || asked.url), url: asked.url, ...words },
        }),
      );
    } catch (error) {
      setFault(faultText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      class="section"
      aria-label="Git"
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      {fields.map(([word, label, example]) => (
        <div key={word} class="field">
          <label for={word}>{label}</label>
          <input
            id={word}
            class="input"
            autocomplete="off"
            placeholder={example}
            value={asked[word]}
            onInput={(event) => setAsked({ ...asked, [word]: event.currentTarget.value })}
          />
        </div>
      ))}
      <div class="row">
        <Button submits hindrance={lacks("actions")} disabled={busy || asked.url === ""}>
          {busy ? "Fetching…" : "Fetch"}
        </Button>
      </div>
      {fault === "" ? null : <Note tone="bad">{fault}</Note>}
    </form>
  );
}
