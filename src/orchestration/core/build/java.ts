import {
  command,
  firstOf,
  type LanguageChoice,
  lines,
  type Plan,
  plainName,
  type Runtime,
  type SourceTree,
  versionIn,
} from "./runtime.ts";

const gradleFiles = ["build.gradle", "build.gradle.kts"];

function javaVersion(tree: SourceTree): string {
  const pom = tree.read("pom.xml") ?? "";
  const gradle = [...gradleFiles, "app/build.gradle", "app/build.gradle.kts", "gradle.properties"]
    .map((file) => tree.read(file) ?? "")
    .join("\n");
  const found =
    versionIn(tree.read("system.properties"), /^java\.runtime\.version\s*=\s*(\d+)/m) ??
    versionIn(tree.read(".java-version"), /^(\d+)/) ??
    versionIn(pom, /<(?:java\.version|maven\.compiler\.release|maven\.compiler\.source|release)>\s*(?:1\.)?(\d+)/) ??
    versionIn(gradle, /JavaLanguageVersion\.of\(\s*(\d+)/) ??
    versionIn(
      gradle,
      /(?:jvmToolchain\(\s*|(?:source|target)Compatibility\s*=\s*["']?(?:JavaVersion\.VERSION_)?(?:1[._])?)(\d+)/,
    ) ??
    "21";
  // Older bases are not made any more; programs for them run on this one.
  return Number(found) < 8 ? "8" : found;
}

/** Not what is only a part of the program. */
const jars = "grep -vE -e '-(plain|sources|javadoc|tests)[.]jar$|/original-'";

function copyJar(folder: string): string {
  return `cp "$(find . -path '*/${folder}/*.jar' -not -path '*/.mvn/*' -size +0 -printf '%s %p\\n' | ${jars} | sort -rn | head -n 1 | cut -d' ' -f2-)" /out/app.jar`;
}

function maven(tree: SourceTree, version: string): { base: string; build: string; start: string[] } {
  const pom = tree.read("pom.xml") ?? "";
  const build = "mvn -q -B -DskipTests package && mkdir /out && ";
  const base = `maven:3-eclipse-temurin-${version}`;
  if (/<artifactId>quarkus-maven-plugin</.test(pom) && !/uber-jar/.test(pom)) {
    const move = "cp -r target/quarkus-app/. /out/";
    return { base, build: build + move, start: ["java", "-XX:MaxRAMPercentage=75", "-jar", "/app/quarkus-run.jar"] };
  }
  return { base, build: build + copyJar("target"), start: ["java", "-XX:MaxRAMPercentage=75", "-jar", "/app/app.jar"] };
}

function gradle(tree: SourceTree, version: string): { base: string; build: string; start: string[] } {
  const text = [...gradleFiles, "app/build.gradle", "app/build.gradle.kts"]
    .map((file) => tree.read(file) ?? "")
    .join("\n");
  const isWrapped = tree.has("gradlew") && tree.has("gradle/wrapper/gradle-wrapper.properties");
  const tool = isWrapped ? "sh ./gradlew --no-daemon" : "gradle --no-daemon";
  const base = isWrapped ? `eclipse-temurin:${version}-jdk` : `gradle:jdk${version}`;
  const isFat = /org\.springframework\.boot|io\.quarkus|shadow|io\.ktor\.plugin|io\.micronaut/.test(text);
  const settings = [tree.read("settings.gradle"), tree.read("settings.gradle.kts")].join("\n");
  const name = plainName(/rootProject\.name\s*=\s*["']([\w.-]+)["']/.exec(settings)?.[1]);
  if (!isFat && /\bapplication\b/.test(text) && name !== undefined) {
    const program = tree.has("app/build.gradle") || tree.has("app/build.gradle.kts") ? "app" : name;
    const build = `${tool} installDist && mkdir /out && cp -r "$(find . -path '*/build/install/${program}' -type d | head -n 1)"/. /out/`;
    return { base, build, start: [`/app/bin/${program}`] };
  }
  const task = /shadow/.test(text) ? "shadowJar" : /io\.ktor\.plugin/.test(text) ? "buildFatJar" : "assemble";
  if (/io\.quarkus/.test(text)) {
    const build = `${tool} quarkusBuild && mkdir /out && cp -r build/quarkus-app/. /out/`;
    return { base, build, start: ["java", "-XX:MaxRAMPercentage=75", "-jar", "/app/quarkus-run.jar"] };
  }
  const build = `${tool} ${task} && mkdir /out && ${copyJar("build/libs")}`;
  return { base, build, start: ["java", "-XX:MaxRAMPercentage=75", "-jar", "/app/app.jar"] };
}

export const java: Runtime = {
  name: "java",
  mark: (tree) => firstOf(tree, ["pom.xml", ...gradleFiles, "settings.gradle", "settings.gradle.kts"]),
  plan(tree, { version = javaVersion(tree) }: LanguageChoice): Plan {
    const made = tree.has("pom.xml") ? maven(tree, version) : gradle(tree, version);
    return {
      port: 8080,
      dockerfile: lines(
        `ARG BASE=${made.base}`,
        `ARG RUN_BASE=eclipse-temurin:${version}-jre`,
        "FROM ${BASE} AS build",
        "WORKDIR /src",
        "COPY . .",
        `RUN ${made.build}`,
        "FROM ${RUN_BASE}",
        "WORKDIR /app",
        "COPY --from=build /out /app",
        // Spring, Micronaut and Quarkus each read one of these.
        "ENV PORT=8080 SERVER_PORT=8080 QUARKUS_HTTP_HOST=0.0.0.0",
        "USER 65532",
        "EXPOSE 8080",
        command(...made.start),
      ),
    };
  },
};
