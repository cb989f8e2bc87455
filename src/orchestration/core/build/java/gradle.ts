// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a shell reads it
import { plainName, type SourceTree } from "../runtime.ts";
import { copyJar, fromJar, type JavaBuild, jre } from "./parts.ts";

export const gradleFiles = ["build.gradle", "build.gradle.kts"];

/** Plugins that put all that a program needs into one archive. */
const packs = /org\.springframework\.boot|io\.quarkus|shadow|io\.ktor\.plugin|io\.micronaut/;

function settingsOf(tree: SourceTree): string {
  return [tree.read("settings.gradle"), tree.read("settings.gradle.kts")].join("\n");
}

/** Projects of a build, each with a slash at its end; the root is empty. */
function projectsOf(tree: SourceTree): string[] {
  const includes = [...settingsOf(tree).matchAll(/^[ \t]*include[ \t(]([^\n)]*)/gm)].map(([, names = ""]) => names);
  const names = includes.flatMap((text) => [...text.matchAll(/["']:?([\w:.-]+)["']/g)].map(([, name = ""]) => name));
  const folders = [...names.map((name) => plainName(name.replaceAll(":", "/"))), "app"];
  return ["", ...new Set(folders.flatMap((folder) => (folder === undefined ? [] : [`${folder}/`])))];
}

/** The project whose program starts: the one of `path`, else the first that makes a program. */
function chosenProject(tree: SourceTree, path: string | undefined) {
  const projects = projectsOf(tree).map((folder): [string, string] => {
    return [folder, gradleFiles.map((file) => tree.read(folder + file) ?? "").join("\n")];
  });
  const named = path === undefined ? undefined : `${path.replace(/\/$/, "")}/`;
  // A root that only applies plugins to its projects makes no program.
  const isProgram = ([folder, text]: [string, string]) =>
    (packs.test(text) || isApplication(text)) &&
    !/\bapply(?: |\()false/.test(text) &&
    (folder !== "" || projects.length <= 2 || tree.has("src/main"));
  const runnable = projects.filter(isProgram);
  const [folder, text] = projects.find(([one]) => one === named) ?? runnable[0] ?? projects[0] ?? ["", ""];
  const others = named === undefined ? runnable.slice(1).map(([one]) => one.slice(0, -1)) : [];
  const chosen = folder === "" ? "the project of the folder" : folder.slice(0, -1);
  const notes: string[] =
    others.length === 0
      ? []
      : [
          `of the projects of Gradle, ${chosen} is started, and not ${others.join(", ")}; to start another, set build.path`,
        ];
  return { folder, text, notes };
}

export function gradle(
  tree: SourceTree,
  version: string,
  { path, started }: { path?: string | undefined; started: string },
): JavaBuild {
  const isWrapped =
    tree.has("gradlew") &&
    tree.has("gradle/wrapper/gradle-wrapper.properties") &&
    tree.has("gradle/wrapper/gradle-wrapper.jar");
  const wanted = /gradle-(\d+\.\d+)(?:\.\d+)?-(?:bin|all)/.exec(
    tree.read("gradle/wrapper/gradle-wrapper.properties") ?? "",
  )?.[1];
  const old = wanted === undefined && isOld(tree);
  const tool = isWrapped ? "sh ./gradlew --no-daemon" : "gradle --no-daemon";
  const base = isWrapped
    ? `eclipse-temurin:${version}-jdk`
    : `gradle:${wanted === undefined ? (old ? "6.9-" : "") : `${wanted}-`}jdk${version}`;
  const { folder, text, notes } = chosenProject(tree, path);
  if (old)
    notes.push(
      "the build files are for Gradle 6 or older (compile, jcenter), so Gradle 6.9 builds; to use another, commit its wrapper",
    );
  if (/\bjcenter\(\)|bintray\.com/.test(text + (tree.read("build.gradle") ?? "")))
    notes.push(
      "the build files fetch packages from JCenter or Bintray, which are closed; where the build does not find one, use mavenCentral()",
    );
  const task = (name: string) => (folder === "" ? name : `:${folder.slice(0, -1).replaceAll("/", ":")}:${name}`);
  const more = /build\/install\//.test(started) ? ` ${task("installDist")}` : "";
  const name = plainName(/rootProject\.name\s*=\s*["']([\w.-]+)["']/.exec(settingsOf(tree))?.[1]);
  if (!packs.test(text) && isApplication(text)) {
    const program = folder === "" ? name : folder.split("/").at(-2);
    return {
      ...{ base, run: jre(version), notes, start: [`/app/bin/${program ?? "start"}`] },
      build: `${tool} ${task("installDist")} && mkdir /out && ${copyInstalled(program)}`,
    };
  }
  if (/io\.quarkus/.test(text))
    return {
      ...{ base, run: jre(version), notes, start: ["java", "-XX:MaxRAMPercentage=75", "-jar", "/app/quarkus-run.jar"] },
      build: `${tool} ${task("quarkusBuild")}${more} && mkdir /out && cp -r ${folder}build/quarkus-app/. /out/`,
    };
  const makes = /shadow/.test(text) ? "shadowJar" : /io\.ktor\.plugin/.test(text) ? "buildFatJar" : "assemble";
  return {
    ...fromJar(version),
    base,
    notes,
    build: `${tool} ${task(makes)}${more} && mkdir /out && ${copyJar(folder, "build/libs")}`,
  };
}

/** Without a name in the settings, the program has that of the folder that it is built in. */
function copyInstalled(program: string | undefined): string {
  return program === undefined
    ? [
        "d=$(find . -path './build/install/*' -prune -type d | head -n 1)",
        'cp -r "${d:?}"/. /out/',
        'ln -s "$(basename "$d")" /out/bin/start',
      ].join(" && ")
    : `cp -r "$(find . -path '*/build/install/${program}' -type d | head -n 1)"/. /out/`;
}

/** Whether the build files say what the seventh Gradle no longer knows. */
export function isOld(tree: SourceTree): boolean {
  const text = gradleFiles.map((file) => tree.read(file) ?? "").join("\n");
  return /^[ \t]*(?:testCompile|compile|runtime)[ (]{1,2}["'(]|^[ \t]*apply plugin: ["']maven["']/m.test(text);
}

function isApplication(text: string): boolean {
  return /\bid[ (]{1,2}["']application["']|(?:^|\{)[ \t]*application\b|plugin:[ \t]*["']application["']/m.test(text);
}
