import { signal } from "@preact/signals";
import { type Board, deleteBoard, putBoard } from "../../observability/api/boards.ts";
import { api } from "../data/api.ts";
import { lacks } from "../data/session.ts";
import { go, withQuery } from "../browser/router.ts";
import { boardText, readBoard } from "../text/boards.ts";
import { BoardForm } from "./board-form.tsx";
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
      <Button look="bare" hindrance={missing} onClick={() => askSave({ boards, chosen, again })}>
        {isOwn ? "Edit…" : "New board…"}
      </Button>
      {isOwn ? (
        <Button look="bare" hindrance={missing} onClick={() => askRemove(chosen, again)}>
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
