import { fileHref, readStart } from "../data/files.ts";
import { useLoad } from "../data/load.ts";
import { bytesText } from "../text/figures.ts";
import { shownName, textOf } from "../text/files.ts";
import { Button } from "./button.tsx";
import { Shown } from "./loaded.tsx";
import { Note } from "./notes.tsx";

/** A person does not read more text on a page. */
const shownBytes = 256 * 1024;

/** The text of a file, up to a size. */
export function FileView({ pod, path, onClose }: { pod: string; path: string; onClose: () => void }) {
  const loaded = useLoad(`${pod}\n${path}`, (signal) => readStart(pod, path, { length: shownBytes, signal }));
  return (
    <div class="section">
      <header>
        <h2 class="mono wraps">{shownName(path)}</h2>
        <span class="row flat">
          <a class="button bare" href={fileHref(pod, path)} download="">
            Download
          </a>
          <Button onClick={onClose}>Close</Button>
        </span>
      </header>
      <Shown of={loaded} label={shownName(path)} scope="config:reveal">
        {({ bytes, size }) => {
          const text = textOf(bytes);
          if (text === undefined)
            return <Note>{`These ${bytesText(size)} are not text. Download the file to look at it.`}</Note>;
          return (
            <>
              {size > bytes.length ? (
                <Note tone="warn">{`The first ${bytesText(bytes.length)} of ${bytesText(size)}`}</Note>
              ) : null}
              <pre class="card file" tabIndex={0} role="region" aria-label={`Content of ${shownName(path)}`}>
                {text === "" ? "(empty)" : text}
              </pre>
            </>
          );
        }}
      </Shown>
    </div>
  );
}
