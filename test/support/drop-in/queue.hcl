statefulset "data" "queue" {
  image    = "${IMAGE:-busybox:1}"
  replicas = 3
  ports    = ["5672"]

  command = ["sh", "-c", <<-SH
    set -eu
      echo "node $${REPLICA_ORDINAL}"
    exec rabbitmq-server
  SH
  ]

  volume_claim "data" {
    mount_path = "/var/lib/rabbitmq"
    size       = "20Gi"
  }

  volume_claim "logs" { mount_path = "/var/log/rabbitmq" }

  probes {
    liveness {
      exec { command = ["rabbitmq-diagnostics", "-q", "ping"] }
      initial_delay = "20s"
      timeout       = "10s"
    }
    readiness {
      tcp_socket { port = 5672 }
    }
  }

  on_probe {
    failure { url = "https://hooks.acme.test/down" }
    recovery {
      url  = "https://hooks.acme.test/up"
      file = "${asset.data.hooks.recovered}"
    }
  }
}
