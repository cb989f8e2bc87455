import { useEffect, useRef, useState } from "preact/hooks";
import type { Source } from "../../../orchestration/api/sources.ts";
import { faultText } from "../../data/api.ts";
import { lacks } from "../../data/session.ts";
import { tarOf, uploadSource } from "../../data/upload.ts";
import { Note } from "../../parts/notes.tsx";
import { many, percentText } from "../../text/figures.ts";
import { namedAfter } from "../../text/manifest-text.ts";
import { pickFiles } from "../../text/picked-files.ts";

interface UploadProps {
  app: { scope: string; name: string };
  onSource: (source: Source) => void;
}

/** A folder, or an archive, of this machine. */
export function Upload({ app, onSource }: UploadProps) {
  const [sent, setSent] = useState<number | undefined>(undefined);
  const [note, setNote] = useState("");
  const [fault, setFault] = useState("");
  const folder = useRef<HTMLInputElement>(null);
  // Not among the properties that the types of the library know.
  useEffect(() => folder.current?.setAttribute("webkitdirectory", ""), []);
  const missing = lacks("actions");
  const send = async (archive: Blob, place: string, isFolder: boolean) => {
    setSent(0);
    const query = { ...namedAfter(app, place), folder: isFolder };
    const source = await uploadSource(archive, { query, onSent: setSent });
    onSource(source);
  };
  const run = (work: () => Promise<void>) => {
    setFault("");
    setNote("");
    work()
      .catch((error: unknown) => setFault(faultText(error)))
      .finally(() => setSent(undefined));
  };
  const takeFolder = (list: FileList | null) =>
    run(async () => {
      const { files, secrets, left } = await pickFiles([...(list ?? [])]);
      if (files.length === 0) throw new Error("the folder has no file to send");
      const kept = secrets.length === 0 ? "" : `; ${secrets.slice(0, 5).join(", ")} stay here: they look like secrets`;
      setNote(`${many(files.length, "file")} to send, ${many(left, "other")} left out${kept}`);
      await send(tarOf(files), list?.[0]?.webkitRelativePath.split("/")[0] ?? "", true);
    });
  const disabled = missing !== undefined || sent !== undefined;
  return (
    <section class="section" aria-label="Upload">
      <div class="field">
        <label for="folder">A folder with the source; what .gitignore or .dockerignore names is left out</label>
        <input
          ref={folder}
          id="folder"
          class="input"
          type="file"
          disabled={disabled}
          title={missing}
          onChange={(event) => takeFolder(event.currentTarget.files)}
        />
      </div>
      <div class="field">
        <label for="archive">Or an archive: .tar, .tar.gz or .zip</label>
        <input
          id="archive"
          class="input"
          type="file"
          accept=".tar,.tgz,.gz,.zip"
          disabled={disabled}
          title={missing}
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            if (file !== undefined) run(() => send(file, file.name, false));
          }}
        />
      </div>
      {note === "" ? null : <p class="soft small">{note}</p>}
      {sent === undefined ? null : (
        <Note tone="work">{sent < 1 ? `${percentText(sent * 100)} is sent` : "The server looks at the source"}</Note>
      )}
      {fault === "" ? null : <Note tone="bad">{fault}</Note>}
    </section>
  );
}
