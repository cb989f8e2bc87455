registry "acme" {
  url      = "registry.acme.test"
  username = "${REG_USER:-bot}"
  token    = "${REG_TOKEN:-secret}"
}

registry "ecr" {
  url    = "000000000000.dkr.ecr.eu-central-1.amazonaws.com"
  helper = "ecr-login"
}
