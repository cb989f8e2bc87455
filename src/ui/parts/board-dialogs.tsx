import { type Signal, signal } from "@preact/signals";
import { type Board, deleteBoard, putBoard } from "../../observability/api/boards.ts";
import { api } from "../data/api.ts";
import { lacks } from "../data/session.ts";
import { go, withQuery } from "../frame/router.ts";
import { boardText, readBoard } from "../text/boards.ts";
import { Button } from "./button.tsx";
import { ask } from "./dialog.tsx";

interface ButtonsProps {
  boards: readonly Board[];
  chosen: Board | undefined;
  again: () => void;
}

/** What can be done with boards. A board of the server can be copied, and only saved ones can be changed. */
export function BoardButtons({ boards, chosen, again }: ButtonsProps) {
  const missing = lacks("actions");
  const isOwn = chosen?.built_in === false;
  return (
    <>
      <Button
        look="bare"
        disabled={missing !== undefined}
        title={missing}
        onClick={() => askSave({ boards, chosen, again })}
      >
        {isOwn ? "Edit…" : "New board…"}
      </Button>
      {isOwn ? (
        <Button look="bare" disabled={missing !== undefined} title={missing} onClick={() => askRemove(chosen, again)}>
          Delete…
        </Button>
      ) : null}
    </>
  );
}

function askSave({ boards, chosen, again }: ButtonsProps): void {
  const isOwn = chosen?.built_in === false;
  const start = chosen ?? boards[0];
  const name = signal(isOwn ? chosen.name : "");
  const text = signal(start === undefined ? "" : boardText(start));
  ask({
    title: isOwn ? `Edit the board ${chosen.name}` : "New board",
    verb: "Save",
    command: `berth boards save ${isOwn ? chosen.name : "NAME"} < board.json`,
    effects: [{ text: "Every user sees it on this page" }],
    body: () => <BoardForm name={isOwn ? undefined : name} text={text} />,
    run: async () => {
      const saved = await api.call(putBoard, { params: { name: name.value.trim() }, body: readBoard(text.value) });
      again();
      go(withQuery({ board: saved.name }));
    },
  });
}

function BoardForm({ name, text }: { name: Signal<string> | undefined; text: Signal<string> }) {
  return (
    <>
      {name === undefined ? null : (
        <div class="field">
          <label for="board-name">Name</label>
          <input
            id="board-name"
            class="input mono"
            required
            maxLength={63}
            pattern="[a-z0-9]([a-z0-9\-]*[a-z0-9])?"
            title="lowercase letters, digits and dashes"
            placeholder="night-shift"
            autocomplete="off"
            value={name.value}
            onInput={(event) => {
              name.value = event.currentTarget.value;
            }}
          />
        </div>
      )}
      <div class="field">
        <label for="board-text">Charts, as JSON; berth boards show prints the same</label>
        <textarea
          id="board-text"
          class="input tall mono"
          spellcheck={false}
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
      </div>
    </>
  );
}

function askRemove({ name, title }: Board, again: () => void): void {
  ask({
    title: `Delete the board ${title}`,
    verb: "Delete",
    danger: true,
    command: `berth boards remove ${name}`,
    effects: [{ text: "Links to it show nothing any more; the figures stay", ends: true }],
    run: async () => {
      await api.call(deleteBoard, { params: { name } });
      again();
      go(withQuery({ board: undefined }));
    },
  });
}
