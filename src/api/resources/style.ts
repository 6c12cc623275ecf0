/** The style of pages about resources, exactly as it stands in them: their policy names its digest. */
export const STYLE = `:root{color-scheme:light dark;--ink:#1c2430;--quiet:#5a6675;--line:#dfe4ea;--link:#0b5ba8;--soft:#f5f7fa;--paper:#fff;--mark:#c2410c}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--quiet:#9aa6b5;--line:#323a45;--link:#7db8f0;--soft:#1b2028;--paper:#12161c;--mark:#fb923c}}
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;margin:0;color:var(--ink);background:var(--paper)}
main{max-width:72rem;margin:0 auto;padding:1.25rem 1.25rem 3rem}
a{color:var(--link);text-decoration-thickness:1px;text-underline-offset:2px}a:not(:hover){text-decoration-color:color-mix(in srgb,currentColor 35%,transparent)}
nav ol{display:flex;flex-wrap:wrap;list-style:none;margin:0 0 1.5rem;padding:0;font-size:.9rem;color:var(--quiet)}
nav li+li::before{content:"/";margin:0 .5rem;color:var(--line)}
h1{font-size:1.75rem;line-height:1.2;margin:0;overflow-wrap:anywhere}h2{font-size:1rem;margin:2rem 0 .5rem}
.types{margin:.5rem 0 0}.types span{display:inline-block;background:var(--soft);border:1px solid var(--line);border-radius:1rem;padding:0 .7rem;font-size:.85rem}.types span span{border:0;padding:0}
.iri{color:var(--quiet);font-size:.85rem;overflow-wrap:anywhere;margin:.35rem 0 1rem}.iri a{color:inherit}
.two{display:grid;grid-template-columns:minmax(0,1fr) minmax(16rem,24rem);gap:2rem;align-items:start}
table{border-collapse:collapse;width:100%}caption{text-align:left;font-weight:600;padding:1rem 0 .5rem}
th,td{text-align:left;vertical-align:top;padding:.45rem 1rem .45rem 0;border-top:1px solid var(--line);overflow-wrap:anywhere}
.properties th{width:14rem;font-weight:400;color:var(--quiet)}.properties th a{color:inherit}.fields thead th{font-size:.85rem;color:var(--quiet);font-weight:400}.fields tbody th{font-weight:500}
ul.plain{list-style:none;margin:0;padding:0}td ol{margin:0;padding-left:1.4rem}
.text{white-space:pre-wrap}small,.count{color:var(--quiet);font-size:.8rem}.count{background:var(--soft);border-radius:1rem;padding:.05rem .5rem}
summary{cursor:pointer}details[open]>summary.text{display:none}
.nested{display:grid;grid-template-columns:minmax(6rem,auto) minmax(0,1fr);gap:.15rem .9rem;margin:.15rem 0;padding:.4rem .8rem;border-left:3px solid var(--line);background:var(--soft)}
.nested dt{color:var(--quiet)}.nested dt a{color:inherit}.nested dd{margin:0}.nested .self{grid-column:1/-1;font-size:.75rem}.node{color:var(--quiet)}
.more,.pages{font-size:.9rem;margin:.35rem 0}.pages a{margin-left:.6rem}
.map{margin:1rem 0 0}.map svg{display:block;width:100%;height:auto;border:1px solid var(--line);border-radius:4px}
.map .sea{fill:var(--soft)}.map .grid line{stroke:var(--line)}.map .grid text{font-size:11px;fill:var(--quiet)}
.map .area{fill:color-mix(in srgb,var(--mark) 18%,transparent);stroke:var(--mark);stroke-width:1.2;stroke-linejoin:round}.map .line{fill:none;stroke:var(--mark);stroke-width:2}
.map .point{fill:var(--mark)}.map .halo{fill:color-mix(in srgb,var(--mark) 22%,transparent)}
figcaption{font-size:.85rem;color:var(--quiet);padding-top:.4rem}
footer{margin-top:2.5rem;border-top:1px solid var(--line);padding-top:1rem;font-size:.9rem;color:var(--quiet)}footer p{margin:0 0 .5rem}.formats a{margin-right:.6rem}
footer dl{display:flex;flex-wrap:wrap;gap:.2rem .5rem;margin:0}footer dt::after{content:":"}footer dd{margin:0 1.2rem 0 0}
@media(max-width:52rem){.two{display:block}.properties tr,.fields tr{display:block;border-top:1px solid var(--line);padding:.4rem 0}.properties th,.properties td,.fields th,.fields td{display:block;width:auto;border:0;padding:.05rem 0}.fields thead{display:none}}
@media print{footer .formats{display:none}}`
