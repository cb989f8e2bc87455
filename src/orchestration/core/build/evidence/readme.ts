import { lastCommand } from "../hints/commands.ts";
import { isDone, partsOf } from "../hints/build-lines.ts";
import { readHints } from "../hints/hints.ts";
import type { SourceTree } from "../runtime.ts";
import { needsMark } from "./needs.ts";

const textMax = 64 * 1024;
const shownMax = 4;

/** The file that tells people what the folder is; undefined where there is none. */
function readmeOf(tree: SourceTree): { file: string; text: string } | undefined {
  const files = tree.list("").filter((name) => /^readme(?:\.(?:md|markdown|rst|txt|adoc|org))?$/i.test(name));
  const file = files.find((name) => name.endsWith(".md")) ?? files[0];
  return file === undefined ? undefined : { file, text: (tree.read(file) ?? "").slice(0, textMax) };
}

/** The only port of this machine that the README names; undefined where there are none or several. */
export function readmePort(tree: SourceTree): { port: number; file: string } | undefined {
  const { file = "", text = "" } = readmeOf(tree) ?? {};
  const found = [...text.matchAll(/\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(\d{2,5})\b/g)].map(([, port]) =>
    Number(port),
  );
  const [port, ...others] = [...new Set(found)];
  return port === undefined || others.length > 0 || port < 80 || port > 65_535 ? undefined : { port, file };
}

/** Lines of a shell in blocks of code and between backticks. */
function commandsIn(text: string): string[] {
  let isCode = false;
  return text.split("\n").flatMap((line) => {
    const isFence = /^[ \t>]{0,12}(?:```|~~~)/.test(line);
    if (isFence) isCode = !isCode;
    if (isFence || line.length > 2000) return [];
    const codes =
      isCode || /^(?: {4}|\t|\$ )/.test(line)
        ? [line]
        : [...line.matchAll(/`([^`]{2,200})`/g)].map(([, code = ""]) => code);
    return codes.flatMap((code) => partsOf(code.replace(/^[ \t]{0,20}(?:[$>%#] )?/, "").replace(/ #.*$/, "")));
  });
}

const program =
  /^(?:(?:poetry|pipenv|uv|rye) run |bundle exec |php )?(?:npm|npx|yarn|pnpm|bunx?|node|python3?|flask|alembic|aerich|rake|rails|bin\/\w+|ruby|artisan|composer|cargo|sqlx|diesel|sea-orm-cli|refinery|go|goose|migrate|buf|protoc|sqlc|templ|make|task|just|mvn|(?:\.\/)?mvnw|gradle|(?:\.\/)?gradlew|dotnet|mix|createdb|psql|mysql|sqlite3|mongo(?:restore|import)?|openssl|cp|mv|ln|(?:ba)?sh [\w./-]{1,80}|\.\/[\w./-]{1,80}\.sh|vendor\/bin\/\w+|bower|gulp|grunt|wget|curl -\w{0,4}O)(?: |$)/;
/** Words of a step that makes what a program does not start without. */
const prepares =
  /(?:^|[\s:_./-])(?:migrat\w{0,5}|migrations?|seed\w{0,3}|fixtures?|loaddata|createdb|create[-_:]?(?:db|database|tables?|schema)|init[-_]?db|initdb|db|database|setup|bootstrap|import|populate|generate|codegen|gen|keys?|keypair|keygen|genrsa|genpkey|jwt|proto\w{0,3}|buf|sqlc|templ|schema|psql|mysql|sqlite3|mongorestore|mongoimport|cp|mv|ln|wget|curl|download|build|compile|bundle|assets?|css|sass|tailwind\w{0,5}|bower|gulp|grunt|webpack)(?=$|[\s:_./-])/i;
/** Steps for developers, and those of another platform. */
const others =
  /\b(?:tests?|specs?|lint|format|fmt|watch|dev|develop(?:ment)?|cypress|storybook|coverage|phpunit|pytest|rspec|e2e|docs?|clippy|docker|kubectl|heroku|vercel|netlify|rollback|revert|down|drop|downgrade|add|new|revision|makemigrations|startapp|bench\w*)\b|\bmake:|:(?:generate|create|make|diff)\b|\.env\b|<\w|\[\w+\]|\.\.\.|YOUR|\bgit\b|-(?:m|autogenerate)\b/i;

/** What the README tells people to do and that neither the image nor the manifest does, and another start than that of the image. */
export function readmeNotes(tree: SourceTree, dockerfile: string, notes: readonly string[]): string[] {
  const readme = readmeOf(tree);
  if (readme === undefined) return [];
  const commands = [...new Set(commandsIn(readme.text))];
  const said = notes.join("\n");
  const saysMigration = /no migration runs|builds with/.test(said);
  const left = commands.filter(
    (one) =>
      one.length < 160 &&
      program.test(one) &&
      prepares.test(one) &&
      !others.test(one) &&
      !isStart(one) &&
      !isDone(one, dockerfile) &&
      !said.includes(one) &&
      !(saysMigration && /migrat|upgrade head|db upgrade/.test(one)),
  );
  const shown = left.slice(0, shownMax).map((one) => `"${one}"`);
  const more = left.length > shownMax ? ` and ${left.length - shownMax} more` : "";
  const steps = `${needsMark}what ${readme.file} runs by hand, as far as the program asks for it: ${shown.join(", ")}${more}; neither the image nor this manifest does that; to run it before each version, write release: { command: ["sh", "-c", "…"] }`;
  const start = readHints(tree).processes.some(({ type }) => type === "web") ? [] : otherStart(commands, dockerfile);
  return [
    ...(left.length === 0 ? [] : [steps]),
    ...(/\bcreate table\b/i.test(readme.text) && !/its tables|no migration runs/.test(said)
      ? [`${needsMark}its tables, where no source makes them: ${readme.file} has CREATE TABLE for them; run that once`]
      : []),
    ...start.map(
      (line) =>
        `${readme.file} starts the program with "${line}", which is not what the image starts; if that serves, write command`,
    ),
  ];
}

const starts =
  /^(?:(?:python3?|node|ruby|deno run|bun(?: run)?) [\w./-]{1,100}\.(?:py|[cm]?[jt]s|rb)\b|go run |cargo run\b|java (?:-\S{1,60} ){0,6}-jar |(?:uvicorn|gunicorn|hypercorn|daphne) )/;

function isStart(line: string): boolean {
  return starts.test(line) && !prepares.test(line.replace(/^(?:\S+ ){1,2}/, ""));
}

/** A line that starts something else, or with more words, where no line of the README starts the same. */
function otherStart(commands: readonly string[], dockerfile: string): string[] {
  const lines = commands
    .map((one) => ({ one, words: lastCommand(one).words }))
    .filter(({ words }) => starts.test(words.join(" ")));
  const own = lines.filter(({ one }) => !/\btests?\b/.test(one) && isStart(one));
  const first = own[0];
  // A module is its file: `backend.app:app` of `backend/app.py`.
  const made = `${dockerfile}\n${dockerfile.replaceAll(/(?<=\w)\.(?=\w)/g, "/")}`.toLowerCase();
  return first === undefined || own.some(({ words }) => wordsOf(words).every((word) => made.includes(word)))
    ? []
    : [first.one];
}

/** The words by which two starts differ: files and modules without their endings, names of commands and programs. */
function wordsOf([tool = "", ...words]: readonly string[]): string[] {
  const named = words.flatMap((word, index) => {
    const before = words[index - 1] ?? "";
    const isPlain =
      !word.startsWith("-") &&
      before !== "manage.py" &&
      !/^(?:run|\.|\.\/|main\.go|\.\/main\.go|\*\.go|&|\d+|[\d.:]+|manage\.py)$/.test(word) &&
      !/^--?(?:port|p|host|b|bind|h|w|workers|log-level|config|features)$/.test(before);
    return isPlain ? [word] : [];
  });
  return named.map((word) =>
    word
      .replace(/^\.\//, "")
      .replace(/^(?:src|dist|build|target|lib)\/(?:\w+\/)?(?=[^/]+$)/, "")
      .replace(/\/?(?:main)?\.(?:go|py|[cm]?[jt]s|rb)$/, "")
      .replace(/^.*\/(?=[^/]+$)/, tool === "java" ? "" : "$&")
      .replace(/^.*\.jar$/, "")
      .toLowerCase(),
  );
}
