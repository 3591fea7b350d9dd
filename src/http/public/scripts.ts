/** Declares `fire()`, which fires the pixels listed in `#fire`. It resolves when all have answered, after a second at the latest. */
export const fire = `const fire=()=>{const all=[];const queues={
gtm(){(window.dataLayer||=[]).push({'gtm.start':Date.now(),event:'gtm.js'})},
ga(tag){window.dataLayer||=[];window.gtag=function(){dataLayer.push(arguments)};gtag('js',new Date());gtag('config',tag)},
tiktok(tag){const q=window.ttq||=[];window.TiktokAnalyticsObject='ttq';for(const name of ['_i','_t','_o'])q[name]||={};
q._i[tag]=[];q._t[tag]=Date.now();q._o[tag]={};q.push(['page'])}};
for(const {image,script,queue,tag} of JSON.parse(document.getElementById('fire').dataset.fires))all.push(new Promise((done)=>{
if(image){const img=new Image();all.img=[...(all.img||[]),img];img.onload=img.onerror=done;img.src=image}
else{queues[queue](tag);const s=document.createElement('script');s.async=true;s.onload=()=>setTimeout(done,300);s.onerror=done;s.src=script;document.head.append(s)}}));
return Promise.race([Promise.all(all),new Promise((done)=>setTimeout(done,1000))])};`

/** Fires the pixels of a page that stays open. */
export const fireNow = `fire();`

/**
 * Shows the countdown of `countdown()`. At its end, or when `#go` is clicked, it fires the pixels (if there are any) and redirects to the target of
 * `#go`; Back skips this page. The countdown pauses while the page is hidden. `#stay` stops it, and so does leaving: Back would otherwise lead away
 * again. Screen readers hear of its start and its end only.
 */
export const count = `{const $=(id)=>document.getElementById(id),go=$('go'),left=$('left'),bar=$('bar'),said=$('said'),stay=$('stay'),at=$('going');
const rules=new Intl.PluralRules(document.documentElement.lang),b=document.createElement('b');
const say=(n)=>{b.textContent=n;const [before,after]=left.dataset[rules.select(n)==='one'?'one':'other'].split('#');left.replaceChildren(before,b,after);bar.value=n};
let rest=bar.max*1000,seen=performance.now();
const stop=()=>clearInterval(timer),leave=()=>{stop();(typeof fire==='function'?fire():Promise.resolve()).then(()=>location.replace(go.href))};
const timer=setInterval(()=>{const now=performance.now();if(!document.hidden)rest-=Math.min(now-seen,1000);seen=now;
const n=Math.max(0,Math.ceil(rest/1000));if(n!==bar.value)say(n);if(n===0){said.textContent=go.dataset.going;leave()}},200);
go.onclick=(click)=>{if(click.ctrlKey||click.metaKey||click.shiftKey||click.altKey)return;click.preventDefault();leave()};
stay.onclick=()=>{stop();$('countdown').hidden=stay.hidden=true;said.className='';said.textContent=said.dataset.stopped;go.focus()};
addEventListener('pagehide',stop);
if(at){at.textContent=at.dataset.going;if(at.dataset.title)document.title=at.dataset.title}
go.textContent=go.dataset.now;say(bar.max);$('countdown').hidden=stay.hidden=false;said.textContent=left.textContent}`

/** Shows the button of a password field, and lets it show the password. */
export const showPassword = `{const button=document.getElementById('show'),field=document.getElementById('password');button.hidden=false;
button.onclick=()=>{const shown=field.type==='text';field.type=shown?'password':'text';button.setAttribute('aria-pressed',String(!shown));field.focus()}}`

/** Writes the times of a page as the visitor's clock has them. */
export const localTimes = `for(const time of document.querySelectorAll('time'))time.textContent=new Date(time.dateTime).toLocaleTimeString([],{hour:'2-digit',minute:'2-digit'})`

/** Shows the buttons that copy their `data-copy`, where the browser lets a page do that, and says when it is done. */
export const copy = `for(const b of document.querySelectorAll('[data-copy]'))if(navigator.clipboard){b.hidden=false;
b.onclick=()=>navigator.clipboard.writeText(b.dataset.copy).then(()=>{b.textContent=b.nextElementSibling.textContent=b.dataset.copied})}`
