import { useRef } from "preact/hooks";
import { uploadFile } from "../data/files.ts";
import { lacks } from "../data/session.ts";
import { bytesText, many } from "../text/figures.ts";
import { below, shownName } from "../text/files.ts";
import { Button } from "./button.tsx";
import { ask } from "./dialog.tsx";
import { say } from "../data/notices.ts";

interface UploadProps {
  pod: string;
  path: string;
  app: string;
  /** Its id. */
  replica: string;
  /** Replicas beside this one. */
  others: number;
  /** Names that are there already. */
  names: readonly string[];
  fate: { text: string; ends: boolean } | undefined;
  onDone: () => void;
}

/** Puts a file of this computer into a folder of a replica, after it has said what becomes of it. */
export function Upload({ pod, path, app, replica, others, names, fate, onDone }: UploadProps) {
  const input = useRef<HTMLInputElement>(null);
  const chosen = (file: File) => {
    const to = below(path, file.name);
    ask({
      title: `Upload ${shownName(file.name)}`,
      effects: [
        { text: `${bytesText(file.size)} go to ${shownName(to)} of ${replica}` },
        ...(names.includes(file.name) ? [{ text: "The file of that name is replaced", ends: true }] : []),
        ...(fate === undefined ? [] : [fate]),
        ...(others === 0 || fate?.ends === false
          ? []
          : [{ text: `${many(others, "other replica")} of ${app} ${others === 1 ? "does" : "do"} not get it` }]),
      ],
      verb: "Upload",
      command: `berth cp ./${shownName(file.name)} ${app}.${replica}:${shownName(to)}`,
      run: async () => {
        await uploadFile(pod, to, file);
        say(`${shownName(to)} is there`);
        onDone();
      },
    });
  };
  return (
    <>
      <input
        ref={input}
        class="unseen"
        type="file"
        tabIndex={-1}
        aria-label="File to upload"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          if (file !== undefined) chosen(file);
          event.currentTarget.value = "";
        }}
      />
      <Button hindrance={lacks("exec")} onClick={() => input.current?.click()}>
        Upload…
      </Button>
    </>
  );
}
