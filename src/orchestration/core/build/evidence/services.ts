import type { SourceTree } from "../runtime.ts";

/** A server that programs are clients of. */
export interface Service {
  name: string;
  /** A library that speaks to it, as a manifest names it. */
  library: RegExp;
  /** The code that speaks to it, where no manifest names a library. */
  code?: RegExp;
  /** The words of its addresses: `postgres` of `postgres://`. */
  schemes: string;
  /** An address of this machine in another form. */
  local?: RegExp;
  /** Words of a variable that says where it is: `MONGO` of `MONGO_URL`. */
  variables?: string;
  /** The plugin of berth that runs one. */
  kind?: string;
}

export const services: readonly Service[] = [
  {
    name: "PostgreSQL",
    library:
      /"(?:pg|postgres|pg-promise|@fastify\/postgres|@neondatabase\/serverless|@prisma\/adapter-pg|@vercel\/postgres|@nestjs\/postgres|postgraphile)"\s*:|\bpsycopg(?:2|2-binary|\[[\w,]{1,40}\])?\b|\basyncpg\b|^[ \t]*gem ["']pg["']|github\.com\/(?:lib\/pq|jackc\/pgx|go-pg)|gorm\.io\/driver\/postgres|\/pgdriver\b|\/pgdialect\b|\b(?:tokio|deadpool)-postgres\b|\bsqlx\b[^\n]{0,200}postgres|\bdiesel\b[^\n]{0,200}postgres|\b(?:sqlx|diesel|deadpool)_postgres\b|\[dependencies\.(?:sqlx|diesel)\][^[]{0,80}\[[^\]]{0,200}"postgres"|\bsqlx = \{[^}]{0,300}"postgres"|<artifactId>(?:postgresql|quarkus-(?:reactive-pg-client|jdbc-postgresql)|vertx-pg-client)<|org\.postgresql:(?:r2dbc-)?postgresql|quarkus-jdbc-postgresql|\{:postgrex,|Npgsql|provider\s*=\s*"postgres(?:ql)?"|"ext-(?:pdo_)?pgsql"/m,
    code: /\bpgsql:host=|\bpg_connect\(/,
    schemes: "postgres(?:ql)?|jdbc:postgresql|ecto|postgresql\\+\\w+",
    variables: "DATABASE|DB|PG|POSTGRES(?:QL)?",
    local: /\bhost=(?:localhost|127\.0\.0\.1) [^"\n]{0,200}\b(?:user|dbname|port|sslmode)=/,
    kind: "postgres",
  },
  {
    name: "MySQL or MariaDB",
    library:
      /"(?:mysql|mysql2|mariadb|@fastify\/mysql)"\s*:|\b(?:mysqlclient|pymysql|PyMySQL|aiomysql|asyncmy|mysql-connector-python|[Ff]lask-[Mm]y[Ss][Qq][Ll]\w{0,3})\b|^[ \t]*gem ["'](?:mysql2|trilogy)["']|go-sql-driver\/mysql|gorm\.io\/driver\/mysql|\bsqlx\b[^\n]{0,200}mysql|\bsqlx = \{[^}]{0,300}"mysql"|\bdiesel\b[^\n]{0,200}mysql|<artifactId>(?:mysql-connector-j|mysql-connector-java|mariadb-java-client|vertx-mysql-client)<|(?:mysql:mysql-connector|com\.mysql:mysql-connector|org\.mariadb\.jdbc|mariadb-java-client)|\{:myxql,|Pomelo\.EntityFrameworkCore|MySql\.(?:Data|EntityFrameworkCore)|MySqlConnector|provider\s*=\s*"mysql"|"ext-(?:pdo_mysql|mysqli)"|"flarum\/core"/m,
    code: /\bmysql:(?:\w{1,20}=[^"'\n]{0,80};?)?(?:host|dbname|unix_socket)=|\bnew \\?mysqli\b|\bmysqli?_(?:connect|real_connect)\(|["'](?:driver|adapter|dialect|type|client|DBDriver)["']?\s*(?:=>|[:=])\s*["'](?:pdo_)?(?:mysqli?|mariadb)["']/i,
    schemes: "mysqli?|mariadb|jdbc:(?:mysql|mariadb)|mysql\\+\\w+",
    variables: "DATABASE|DB|MYSQL|MARIADB",
    local: /:[^\s"'@]{0,60}@(?:tcp)?\((?:localhost|127\.0\.0\.1)\b/,
  },
  {
    name: "MongoDB",
    library:
      /"(?:mongodb|mongoose|@fastify\/mongodb|@nestjs\/mongoose|mongojs|monk|connect-mongo|@typegoose\/typegoose)"\s*:|\b(?:pymongo|motor|mongoengine|beanie|djongo|odmantic|flask-pymongo)\b|^[ \t]*gem ["']mongoid["']|go\.mongodb\.org\/mongo-driver|gopkg\.in\/mgo|^[ \t]*mongodb\s*=|spring-boot-starter-data-mongodb|vertx-mongo-client|mongodb-driver|quarkus-mongodb|MongoDB\.Driver|\{:mongodb(?:_driver)?,|"(?:mongodb\/mongodb|mongodb\/laravel-mongodb|jenssegers\/mongodb|doctrine\/mongodb-odm)"|provider\s*=\s*"mongodb"/im,
    schemes: "mongodb(?:\\+srv)?",
    variables: "MONGO(?:DB)?|DATABASE|DB",
  },
  {
    name: "Redis",
    library:
      /"(?:redis|ioredis|@fastify\/redis|bull|bullmq|bee-queue|kue|connect-redis|@upstash\/redis|cache-manager-redis-\w{1,12})"\s*:|^[ \t"']{0,6}(?:redis|django-redis|celery\[redis\]|rq|django-rq|aioredis|arq|channels[-_]redis)\b[ \t]*(?:[<>=~"'\],[(;]|$)|^[ \t]*gem ["'](?:redis|sidekiq|resque)["']|github\.com\/(?:redis\/go-redis|go-redis\/redis|gomodule\/redigo|hibiken\/asynq)|^[ \t]*(?:redis|deadpool-redis|fred|bb8-redis)\s*=|spring-boot-starter-data-redis|redis\.clients|StackExchange\.?Redis|\{:redix,|\{:exq,|"predis\/predis"/m,
    code: /\bnew \\?Redis\(\)/,
    schemes: "rediss?",
    variables: "REDIS",
    kind: "redis",
  },
  {
    name: "RabbitMQ",
    library:
      /"(?:amqplib|amqp-connection-manager)"\s*:|\b(?:pika|aio-pika|kombu)\b|^[ \t]*gem ["']bunny["']|rabbitmq\/amqp091-go|streadway\/amqp|^[ \t]*(?:lapin|amqprs)\s*=|spring-boot-starter-amqp|RabbitMQ\.Client|\{:amqp,|"php-amqplib\/php-amqplib"/m,
    schemes: "amqps?",
    variables: "RABBIT(?:MQ)?|AMQP|BROKER",
  },
  {
    name: "Kafka",
    library:
      /"kafkajs"\s*:|\b(?:kafka-python|confluent-kafka|aiokafka)\b|segmentio\/kafka-go|IBM\/sarama|Shopify\/sarama|^[ \t]*rdkafka\s*=|spring-kafka|Confluent\.Kafka|\{:(?:brod|kafka_ex|broadway_kafka),/m,
    schemes: "kafka",
    variables: "KAFKA",
  },
  {
    name: "SQL Server",
    library:
      /"(?:mssql|tedious)"\s*:|\b(?:pymssql|mssql-django)\b|EntityFrameworkCore\.SqlServer|<artifactId>mssql-jdbc<|mssql-jdbc:|microsoft\/go-mssqldb|\{:tds,/,
    schemes: "sqlserver|jdbc:sqlserver|mssql",
  },
  {
    name: "Elasticsearch",
    library:
      /"@(?:elastic\/elasticsearch|opensearch-project\/opensearch)"\s*:|^[ \t"']{0,6}(?:elasticsearch|opensearch)(?:-dsl|-py)?\b|elastic\/go-elasticsearch|spring-boot-starter-data-elasticsearch|^[ \t]*gem ["'](?:elasticsearch|searchkick)/m,
    schemes: "elasticsearch",
    variables: "ELASTIC(?:SEARCH)?|ES|OPENSEARCH",
  },
  {
    name: "ClickHouse",
    library:
      /"@clickhouse\/client"\s*:|\b(?:clickhouse-driver|clickhouse-connect)\b|ClickHouse\/clickhouse-go|^[ \t]*clickhouse\s*=|clickhouse-jdbc|\{:(?:ecto_ch|ch|clickhouse_ecto),/m,
    schemes: "clickhouse|jdbc:clickhouse",
    variables: "CLICKHOUSE",
  },
  {
    name: "Memcached",
    library:
      /"(?:memcached|memjs)"\s*:|^[ \t"']{0,6}(?:pylibmc|pymemcache|python-memcached)\b|^[ \t]*gem ["']dalli["']|bradfitz\/gomemcache|\{:memcachex,|spymemcached|"ext-memcached"/m,
    schemes: "memcached?",
    variables: "MEMCACHED?",
  },
  {
    name: "Neo4j",
    library:
      /"neo4j-driver"\s*:|^[ \t"']{0,6}(?:neo4j|neomodel|py2neo)\b|neo4j\/neo4j-go-driver|spring-boot-starter-data-neo4j|Neo4j\.Driver|\{:(?:bolt_sips|boltx),/m,
    schemes: "(?:bolt|neo4j)(?:\\+s)?",
  },
  {
    name: "Cassandra",
    library:
      /"cassandra-driver"\s*:|^[ \t"']{0,6}(?:cassandra-driver|scylla-driver)\b|gocql\/gocql|spring-boot-starter-data-cassandra|\{:xandra,|^[ \t]*(?:scylla|cdrs-tokio)\s*=/m,
    schemes: "cassandra",
  },
  {
    name: "MQTT",
    library:
      /"(?:mqtt|async-mqtt)"\s*:|\b(?:paho-mqtt|aiomqtt|asyncio-mqtt|flask-mqtt)\b|eclipse\/paho\.mqtt|^[ \t]*rumqttc\s*=|org\.eclipse\.paho|MQTTnet|\{:(?:tortoise|emqtt),/im,
    schemes: "mqtts?",
  },
  {
    name: "NATS",
    library: /"(?:nats|@nats-io\/\w{1,30})"\s*:|\bnats-py\b|nats-io\/nats\.go|^[ \t]*async-nats\s*=|\{:gnat,/m,
    schemes: "nats",
  },
  {
    name: "InfluxDB",
    library:
      /"(?:influx|@influxdata\/influxdb-client)"\s*:|\binfluxdb(?:-client|3-python)?\b|influxdata\/influxdb-client-go/m,
    schemes: "influxdb",
  },
  {
    name: "Meilisearch or Typesense",
    library:
      /"(?:meilisearch|typesense)"\s*:|^[ \t"']{0,6}(?:meilisearch|typesense)\b|meilisearch\/meilisearch-go|^[ \t]*(?:meilisearch-sdk|typesense)\s*=|^[ \t]*gem ["'](?:meilisearch|typesense)|"(?:meilisearch\/meilisearch-php|typesense\/typesense-php)"/m,
    schemes: "meilisearch",
  },
];

const composeFiles = ["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"].flatMap((file) => [
  file,
  ...["dev", "development", "prod", "local", "db"].map((kind) => file.replace(/(?=[.]ya?ml$)/, `.${kind}`)),
]);
/** Images that developers use, and those that run the program itself. */
const ownImages =
  /^(?:adminer|pgadmin4?|phpmyadmin|mongo-express|redis-commander|redisinsight|nginx|traefik|caddy|httpd|apache|node|python|ruby|php|golang|rust|openjdk|eclipse-temurin|maven|gradle|elixir|dotnet|sdk|aspnet|bun|deno|composer|alpine|debian|ubuntu|busybox|certbot|portainer|watchtower|mailhog|mailpit|maildev|mailcatcher|swagger-ui|grafana|prometheus|selenium|cadvisor|node-exporter|jaeger|all-in-one|migrate|wait)/i;

/** Images of servers that files of Compose or CI run beside the program, by their last names. */
export function imagesBeside(tree: SourceTree, folder: string): { image: string; from: string }[] {
  const flows = tree.list(".github/workflows").map((name) => `.github/workflows/${name}`);
  const files = [...composeFiles.flatMap((file) => (folder === "" ? [file] : [folder + file, file])), ...flows];
  const found = files.flatMap((from) => {
    const text = (tree.read(from) ?? "").slice(0, 64 * 1024);
    const images = text.matchAll(
      /^[ \t]{1,40}(?:- )?image:[ \t]{0,9}["']?(?:[\w.-]{1,60}[/:]){0,5}?([\w-]{1,60})(?=[:@"'\s]|$)/gm,
    );
    return [...images].map(([, image = ""]) => ({ image, from }));
  });
  return found.filter(
    ({ image }, index) => !ownImages.test(image) && found.findIndex((one) => one.image === image) === index,
  );
}

/** Whether an image is one of this service. */
export function isImageOf({ schemes, variables, name }: Service, image: string): boolean {
  const words = variables?.replace("DATABASE|DB|", "").replace("|DATABASE|DB", "");
  return new RegExp(`^(?:${schemes}|${words ?? name})`, "i").test(
    /^(?:postgis|timescaledb|pgvector)/.test(image)
      ? "postgresql"
      : /^(?:valkey|keydb|dragonfly)/.test(image)
        ? "redis"
        : image,
  );
}
