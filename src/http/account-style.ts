/** The look of the pages of accounts: one column, readable at any width, light or dark as the reader has it. */
export const ACCOUNT_STYLE = `:root{color-scheme:light dark;--ink:#1c2430;--soft:#566273;--line:#d5dce4;--paper:#fff;--shade:#f4f6f9;--link:#0b5ba8;--on:#fff;--bad:#b3261e;--good:#1c6b3f;--edge:#7d8896}
@media(prefers-color-scheme:dark){:root{--ink:#e4e9f0;--soft:#a3afbe;--line:#333d4a;--paper:#141a22;--shade:#1d2530;--link:#7db8f2;--on:#0e141b;--bad:#ff9d94;--good:#84d6a4;--edge:#75818f}}
*{box-sizing:border-box}body{font:16px/1.5 system-ui,sans-serif;margin:0;color:var(--ink);background:var(--paper)}
a{color:var(--link)}header{border-bottom:1px solid var(--line);background:var(--shade)}
header>div,main{max-width:46rem;margin:0 auto;padding:.75rem 1rem}
header>div{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:center;justify-content:space-between}
header a.home{font-weight:600;color:inherit;text-decoration:none}header form{display:flex;gap:.75rem;align-items:center;margin:0}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:0;padding:0}nav{flex-basis:100%}
nav a{display:inline-block;padding:.3rem 0;text-decoration:none}nav a:hover{text-decoration:underline}
nav a[aria-current]{color:inherit;font-weight:600;box-shadow:inset 0 -2px var(--link)}
main{padding-bottom:4rem}main.narrow{max-width:27rem}h1{font-size:1.6rem;line-height:1.25;margin:1.5rem 0 .75rem}
h2{font-size:1.15rem;margin:2.25rem 0 .5rem}p{margin:.5rem 0 1rem}
.soft,small,.hint{color:var(--soft)}.hint{display:block;font-size:.875rem;margin:.15rem 0 .35rem}
label,legend{font-weight:600}legend{padding:0}.field{margin:1rem 0;border:0;padding:0;min-width:0}
input:not([type=radio]),textarea{font:inherit;width:100%;padding:.55rem .65rem;margin-top:.2rem;color:inherit;background:var(--paper);border:1px solid var(--edge);border-radius:6px}
textarea{font:.9rem/1.5 ui-monospace,monospace}[aria-invalid]{border:2px solid var(--bad)!important}
.choice{display:flex;align-items:baseline;gap:.6rem;margin:.4rem 0}.choice label{font-weight:400}.choice input{margin:0}
button{font:inherit;font-weight:600;padding:.55rem 1.1rem;border:1px solid var(--link);border-radius:6px;background:var(--link);color:var(--on);cursor:pointer}
a.button{display:inline-block;font-weight:600;padding:.55rem 1.1rem;border-radius:6px;background:var(--link);color:var(--on);text-decoration:none}
button.plain{background:none;color:var(--link)}button.bad{background:none;border-color:var(--bad);color:var(--bad)}
button.small{padding:.2rem .65rem;font-size:.9rem}button:hover{filter:brightness(1.1)}
.buttons{display:flex;flex-wrap:wrap;gap:.75rem;margin:1.5rem 0}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.error{display:block;color:var(--bad);font-weight:600;font-size:.9rem;margin-top:.3rem}
.note{border:1px solid var(--line);border-left:4px solid var(--link);border-radius:6px;padding:.75rem 1rem;margin:1rem 0;background:var(--shade)}
.note.bad{border-left-color:var(--bad)}.note.good{border-left-color:var(--good)}.note p:last-child{margin-bottom:0}.note p:first-child{margin-top:0}
code{font:.9em/1.5 ui-monospace,monospace;overflow-wrap:anywhere}code.secret{display:block;font-size:1rem;padding:.5rem .65rem;background:var(--paper);border:1px solid var(--line);border-radius:6px;user-select:all}
dl{margin:1rem 0}dt{font-weight:600;margin-top:.6rem}dd{margin:0;overflow-wrap:anywhere}
ul.things{list-style:none;margin:1rem 0;padding:0}ul.things>li{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between;padding:.75rem 0;border-top:1px solid var(--line)}
ul.things>li:last-child{border-bottom:1px solid var(--line)}ul.things div{min-width:0;overflow-wrap:anywhere;flex:1 1 16rem}ul.things small{display:block}ul.things form{margin:0}
`
