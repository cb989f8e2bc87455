/** Where anybody can have a mailbox. */
const domains = new Set(
  `gmail.com googlemail.com outlook.com outlook.de hotmail.com hotmail.co.uk hotmail.de hotmail.fr live.com live.de msn.com
  yahoo.com yahoo.de yahoo.fr yahoo.es yahoo.it yahoo.co.uk yahoo.co.jp yahoo.com.br ymail.com rocketmail.com icloud.com
  me.com mac.com aol.com aol.de proton.me protonmail.com protonmail.ch pm.me gmx.de gmx.net gmx.com gmx.at gmx.ch web.de
  t-online.de freenet.de posteo.de posteo.net mailbox.org zoho.com zohomail.eu yandex.ru yandex.com mail.ru mail.com
  inbox.ru bk.ru list.ru fastmail.com fastmail.fm hey.com tuta.com tuta.io tutanota.com tutanota.de qq.com 163.com 126.com
  naver.com daum.net orange.fr wanadoo.fr free.fr laposte.net sfr.fr libero.it virgilio.it uol.com.br bol.com.br
  terra.com.br comcast.net verizon.net att.net sbcglobal.net cox.net btinternet.com sky.com bigpond.com rediffmail.com
  seznam.cz wp.pl o2.pl onet.pl interia.pl bluewin.ch hispeed.ch telenet.be ziggo.nl kpnmail.nl mailinator.com
  duck.com privaterelay.appleid.com users.noreply.github.com`.split(/\s+/),
);

/** Whether addresses at a domain, or below it, may belong to anybody. */
export function isMailboxDomain(domain: string): boolean {
  const labels = domain.split(".");
  return labels.some((_, at) => domains.has(labels.slice(at).join(".")));
}
