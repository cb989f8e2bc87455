import { hintedVersion, readHints } from "./hints/hints.ts";
import { gradle, gradleFiles, isOld } from "./java/gradle.ts";
import { maven } from "./java/maven.ts";
import {
  type Adapted,
  command,
  firstOf,
  type LanguageChoice,
  lines,
  type Plan,
  type Runtime,
  type SourceTree,
  versionIn,
} from "./runtime.ts";

const supported = ["8", "11", "17", "21", "25"];

function javaVersion(tree: SourceTree): string {
  const pom = tree.read("pom.xml") ?? "";
  const text = [...gradleFiles, "app/build.gradle", "app/build.gradle.kts", "gradle.properties"]
    .map((file) => tree.read(file) ?? "")
    .join("\n");
  const found =
    versionIn(tree.read("system.properties"), /^java\.runtime\.version\s*=\s*(?:[a-z]+-)?(?:1\.)?(\d+)/m) ??
    versionIn(tree.read(".java-version"), /^(\d+)/) ??
    versionIn(pom, /<(?:java\.version|maven\.compiler\.release|maven\.compiler\.source|release)>\s*(?:1\.)?(\d+)/) ??
    versionIn(text, /JavaLanguageVersion\.of\(\s*(\d+)/) ??
    versionIn(text, /\b(?:source|target)?[jJ]ava_?(?:Version)?[ \t]*=[ \t]*["'](?:1\.)?(\d+)["']/) ??
    versionIn(
      text,
      /(?:jvmToolchain\(\s*|(?:source|target)Compatibility\s*=\s*["']?(?:JavaVersion\.VERSION_)?(?:1[._])?)(\d+)/,
    ) ??
    hintedVersion(tree, "JAVA_VERSION", "NIXPACKS_JDK_VERSION")?.split(".")[0] ??
    byGradle(tree);
  // Bases are made for versions with long support; programs for one in between run on the next of these.
  const isExact = /JavaLanguageVersion\.of\(/.test(text);
  return isExact ? found : (supported.find((version) => Number(version) >= Number(found)) ?? found);
}

/** The newest version that the wrapper's Gradle runs on. */
function byGradle(tree: SourceTree): string {
  const text = tree.read("gradle/wrapper/gradle-wrapper.properties");
  const [major, minor] = (versionIn(text, /gradle-(\d+\.\d+)/) ?? (isOld(tree) ? "6.9" : "9.0")).split(".").map(Number);
  const age = (major ?? 0) * 100 + (minor ?? 0);
  return age < 500 ? "8" : age < 703 ? "11" : age < 805 ? "17" : "21";
}

/** Whether a command names what a build makes: `target/shop.jar`, `build/install/shop/bin/shop`. */
function namesBuilt(line: string): boolean {
  return /(?:^|[\s:/=])(?:target|build)\//.test(line);
}

/** The jar that is built, whatever name another platform's file has for it: versions change, and names are mistyped. */
function withMadeJar(line: string, start: readonly string[]): string {
  const jar = start.at(-1) ?? "";
  const named = [
    ...line.slice(0, 2000).matchAll(/(?<=-jar ["']?)(?:\.\/)?(?:target|build\/libs)\/[\w.*$-]{1,200}\.jar\b/g),
  ].map(([path]) => path);
  const [only] = named;
  return start.includes("-jar") && jar.endsWith("/app.jar") && only !== undefined && named.length === 1
    ? line.replace(only, () => jar)
    : line;
}

/** `target/bin/shop` is made by a plugin of Maven. */
function withMadeScript(tree: SourceTree, line: string, start: readonly string[]): string {
  const isMade = !tree.has("pom.xml") || /appassembler|maven-assembly|native-maven/.test(tree.read("pom.xml") ?? "");
  const isScript = /^(?:exec )?(?:sh )?(?:\.\/)?target\/(?:appassembler\/)?bin\/[\w.-]+\s*$/.test(line);
  return isScript && !isMade && start.length > 0 ? start.join(" ") : line;
}

/** Whether the framework reads one of the variables that the image sets, before its own settings. */
function toldByImage(tree: SourceTree): boolean {
  const files = ["pom.xml", ...gradleFiles].flatMap((file) => [
    file,
    ...tree
      .list("")
      .filter((name) => name.endsWith("/"))
      .map((name) => name + file),
  ]);
  const text = files.map((file) => tree.read(file) ?? "").join("\n");
  return /spring-boot-starter-(?:web|webflux|jetty|undertow|tomcat|parent)|org\.springframework\.boot|io\.quarkus|io\.micronaut/.test(
    text,
  );
}

/** The port that Spring's settings write down, which other parts of the program may call. */
function springPort(tree: SourceTree): number | undefined {
  const text = ["properties", "yml", "yaml"]
    .map((end) => tree.read(`src/main/resources/application.${end}`) ?? "")
    .join("\n");
  const found =
    /^[ \t]*server\.port[ \t]*[=:][ \t]*(\d{2,5})[ \t]*$/m.exec(text)?.[1] ??
    /^server:[ \t]*\n(?:[ \t]{1,20}[^\n]{0,200}\n){0,20}?[ \t]{1,20}port:[ \t]*(\d{2,5})[ \t]*$/m.exec(text)?.[1];
  return found === undefined || Number(found) < 80 || Number(found) > 65_535 ? undefined : Number(found);
}

const phones =
  "the build files are of an app for Android, which no server runs: name the folder of its server in build.context";

/** Whether what Gradle builds is an app for phones, and no project of it a program. */
function isForPhones(tree: SourceTree): boolean {
  const parts = ["", ...tree.list("").filter((name) => name.endsWith("/"))];
  const texts = parts.flatMap((part) => gradleFiles.map((file) => tree.read(part + file) ?? ""));
  const isProgram =
    /org\.springframework\.boot|io\.quarkus|io\.ktor\.plugin|io\.micronaut|\bid[ (]{1,2}["']application["']|plugin: ["']application["']|^[ \t]*application[ \t]*(?:\{|$)/m;
  return (
    texts.some((text) => /\bcom\.android\.application\b|libs\.plugins\.android\.application/.test(text)) &&
    !texts.some((text) => isProgram.test(text))
  );
}

export const java: Runtime = {
  name: "java",
  mark: (tree) => firstOf(tree, ["pom.xml", ...gradleFiles, "settings.gradle", "settings.gradle.kts"]),
  plan(tree, { version = javaVersion(tree), path }: LanguageChoice): Plan {
    if (path === undefined && isForPhones(tree)) return { problem: phones };
    const started = readHints(tree).processes.map(({ command: line }) => line);
    const keepsTree = started.some(namesBuilt);
    const made = tree.has("pom.xml")
      ? maven(tree, version, path)
      : gradle(tree, version, { path, started: started.join(" ") });
    const place = made.place ?? "/app";
    const adapt = (line: string): Adapted => {
      if (/\b(?:mvnw?|gradlew?)\b/.test(line)) return { instead: made.start.join(" ") };
      return { command: withMadeScript(tree, withMadeJar(line, made.start), made.start) };
    };
    const own = springPort(tree);
    const port = own ?? 8080;
    const replaced = started.find((line) => withMadeScript(tree, line, made.start) !== line);
    return {
      port,
      readsPort: made.place === undefined,
      isTold: made.place !== undefined || toldByImage(tree),
      notes: [
        ...made.notes,
        ...(own === undefined
          ? []
          : [
              `the program listens on ${own}, as its settings say (server.port); to change that, correct them, ports and probes`,
            ]),
        ...(replaced === undefined
          ? []
          : [
              `"${replaced.slice(0, 80)}" starts a script that no plugin of pom.xml makes, so ${made.start.join(" ")} is started`,
            ]),
      ],
      noStart: made.noStart,
      adapt,
      dockerfile: lines(
        `ARG BASE=${made.base}`,
        `ARG RUN_BASE=${made.run}`,
        "FROM ${BASE} AS build",
        "WORKDIR /src",
        "COPY . .",
        `RUN ${made.build}`,
        "FROM ${RUN_BASE}",
        made.place === undefined && "WORKDIR /app",
        // What another platform starts is named by its path in the built folder.
        keepsTree && "COPY --from=build /src /app",
        `COPY --from=build /out ${place}`,
        // Spring, Micronaut and Quarkus each read one of these.
        `ENV PORT=${port} SERVER_PORT=${port} MICRONAUT_SERVER_PORT=${port} QUARKUS_HTTP_HOST=0.0.0.0 QUARKUS_HTTP_PORT=${port}`,
        made.place === undefined && "USER 65532",
        `EXPOSE ${port}`,
        made.noStart === undefined && command(...made.start),
      ),
    };
  },
};
