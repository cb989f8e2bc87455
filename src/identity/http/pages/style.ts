import type { Accent } from "../../core/accent.ts";

/** The one style sheet of the hosted pages; goes inline, under the nonce of the page. */
export function styleSheet({ background, text }: Accent): string {
  return `
:root{--paper:#f4f5f7;--card:#ffffff;--ink:#15181e;--soft:#5b6472;--line:#d5dae2;--edge:#868f9e;--field:#ffffff;--hover:#f3f5f9;
--bad:#a41623;--bad-paper:#fdecee;--link:#1f4fb8;--accent:${background};--on-accent:${text};color-scheme:light dark}
@media (prefers-color-scheme:dark){:root{--paper:#101216;--card:#191c22;--ink:#eceff4;--soft:#a5aebd;--line:#363c48;--edge:#707a8a;
--field:#12151a;--hover:#232831;--bad:#ffb3ba;--bad-paper:#3a171c;--link:#9dbdff}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;align-items:center;
justify-content:center;padding:24px 16px;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{width:100%;max-width:25rem;background:var(--card);border:1px solid var(--line);border-radius:14px;padding:32px 28px;
box-shadow:0 1px 2px rgb(0 0 0/.05),0 12px 32px -12px rgb(0 0 0/.12)}
header{text-align:center;margin-bottom:24px}
header:last-child{margin:0}
header img{display:block;margin:0 auto 14px;max-width:160px;max-height:56px}
.mark{display:flex;align-items:center;justify-content:center;width:48px;height:48px;margin:0 auto 14px;border-radius:12px;
background:var(--accent);color:var(--on-accent);font-size:22px;font-weight:650}
h1{margin:0;font-size:1.375rem;line-height:1.25;font-weight:650;letter-spacing:-.01em;text-wrap:balance;overflow-wrap:anywhere}
p{margin:0 0 16px}
header p{margin:8px 0 0;color:var(--soft);font-size:.9375rem;overflow-wrap:anywhere}
form,.ways{display:grid;gap:14px;margin:0}
.ways{gap:10px;list-style:none;padding:0}
.field{display:grid;gap:6px;font-size:.875rem}
label{font-weight:550}
.aside{color:var(--soft)}
input{width:100%;min-height:46px;padding:10px 12px;font:inherit;font-size:1rem;color:var(--ink);background:var(--field);
border:1px solid var(--edge);border-radius:9px}
input[aria-invalid=true]{border-color:var(--bad)}
.button{display:flex;align-items:center;justify-content:center;gap:10px;width:100%;min-height:46px;padding:10px 16px;
font:inherit;font-weight:600;text-align:center;text-decoration:none;color:var(--ink);background:var(--card);
border:1px solid var(--line);border-radius:9px;cursor:pointer;overflow-wrap:anywhere}
.button:hover{background:var(--hover)}
.button.main{color:var(--on-accent);background:var(--accent);border-color:transparent}
.button.main:hover{filter:brightness(1.08)}
.button svg{flex:none;width:18px;height:18px;fill:currentColor}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.or{display:flex;align-items:center;gap:12px;margin:20px 0;color:var(--soft);font-size:.8125rem}
.or::before,.or::after{content:"";flex:1;border-top:1px solid var(--line)}
.problem{margin:0 0 16px;padding:10px 14px;border-radius:9px;color:var(--bad);background:var(--bad-paper);font-size:.9375rem}
.row{display:flex;justify-content:space-between;gap:12px}
.foot{margin:22px 0 0;text-align:center;color:var(--soft);font-size:.9375rem}
.hint{font-size:.8125rem;font-weight:400;color:var(--soft)}
p.hint{margin:0;text-align:center;overflow-wrap:anywhere}
@media (max-width:30rem){body{justify-content:flex-start;padding:0;background:var(--card)}
main{border:0;border-radius:0;box-shadow:none;padding:40px 22px}}
@media (forced-colors:active){.button,input{border-color:ButtonText}}
@media (prefers-reduced-motion:no-preference){.button{transition:background-color .12s,filter .12s}}
`;
}
