/**
 * Declares `fire()`, which fires the pixels listed in `#fire`, once. It resolves when all have answered, after a second
 * at the latest.
 */
export const fire = `let fired;const fire=()=>fired??=(()=>{const all=[];const queues={
gtm(){(window.dataLayer||=[]).push({'gtm.start':Date.now(),event:'gtm.js'})},
ga(tag){window.dataLayer||=[];window.gtag=function(){dataLayer.push(arguments)};gtag('js',new Date());gtag('config',tag,{page_location:document.baseURI})},
tiktok(tag){const q=window.ttq||=[];window.TiktokAnalyticsObject='ttq';for(const name of ['_i','_t','_o'])q[name]||={};
q._i[tag]=[];q._t[tag]=Date.now();q._o[tag]={};q.push(['page'])}};
for(const {image,script,queue,tag} of JSON.parse(document.getElementById('fire').dataset.fires))all.push(new Promise((done)=>{
if(image){const img=new Image();all.img=[...(all.img||[]),img];img.onload=img.onerror=done;img.src=image}
else{queues[queue](tag);const s=document.createElement('script');s.async=true;s.onload=()=>setTimeout(done,300);s.onerror=done;s.src=script;document.head.append(s)}}));
return Promise.race([Promise.all(all),new Promise((done)=>setTimeout(done,1000))])})();`

/** Declares `fire()`, which shows the page in `#fire` in a hidden frame without origin: it fires the pixels. */
export const fireApart = `const fire=()=>{const frame=document.createElement('iframe');frame.hidden=true;frame.sandbox='allow-scripts';
frame.srcdoc=document.getElementById('fire').dataset.page;document.body.append(frame)};`

/** Shows who measures, and the link that leads on without. */
export const showChoice = `document.getElementById('choice').hidden=false;`

/** Asks before it measures: only `#agree` fires the pixels, and then redirects to the target of `#go`. */
export const ask = `{const $=(id)=>document.getElementById(id);$('choice').hidden=false;$('agree').onclick=()=>fire().then(()=>location.replace($('go').href))}`

/**
 * Shows the choice on a page that stays open: the pixels are fired after `data-seconds` unless `#without` is used, or
 * by `#agree` only.
 */
export const chooseHere = `{const $=(id)=>document.getElementById(id),choice=$('choice');choice.hidden=false;let rest=Number(choice.dataset.seconds);
const end=(yes)=>{clearInterval(timer);choice.hidden=true;if(yes)fire()},busy=()=>document.hidden||choice.matches(':hover,:focus-within');
const timer=setInterval(()=>{if(rest>0&&!busy()&&--rest===0)end(true)},1000);
$('without').onclick=()=>end(false);if($('agree'))$('agree').onclick=()=>end(true)}`

/**
 * Shows the countdown of `countdown()`. At its end, or when `#go` is clicked, it fires the pixels (if there are any)
 * and redirects to the target of `#go`; Back skips this page. The countdown pauses while the page is hidden. `#stay`
 * stops it, and so do following another link and leaving: Back would otherwise lead away again. Screen readers hear of
 * its start and its end only.
 */
export const count = `{const $=(id)=>document.getElementById(id),go=$('go'),left=$('left'),bar=$('bar'),said=$('said'),stay=$('stay'),at=$('going');
const rules=new Intl.PluralRules(document.documentElement.lang),b=document.createElement('b');
const say=(n)=>{b.textContent=n;const [before,after]=left.dataset[rules.select(n)==='one'?'one':'other'].split('#');left.replaceChildren(before,b,after);bar.value=n};
let rest=bar.max*1000,seen=performance.now();
const stop=()=>clearInterval(timer),leave=()=>{stop();(typeof fire==='function'?fire():Promise.resolve()).then(()=>location.replace(go.href))};
const timer=setInterval(()=>{const now=performance.now();if(!document.hidden)rest-=Math.min(now-seen,1000);seen=now;
const n=Math.max(0,Math.ceil(rest/1000));if(n!==bar.value)say(n);if(n===0){said.textContent=go.dataset.going;leave()}},200);
go.onclick=(click)=>{if(click.ctrlKey||click.metaKey||click.shiftKey||click.altKey)return;click.preventDefault();leave()};
const halt=()=>{stop();$('countdown').hidden=stay.hidden=true;said.className='';said.textContent=said.dataset.stopped};stay.onclick=()=>{halt();go.focus()};
addEventListener('click',({target})=>{const link=target.closest('a');if(link&&link!==go)halt()});addEventListener('pagehide',stop);
if(at){at.textContent=at.dataset.going;if(at.dataset.title)document.title=at.dataset.title}
if(go.dataset.now)go.textContent=go.dataset.now;say(bar.max);$('countdown').hidden=stay.hidden=false;said.textContent=left.textContent}`

/** Shows the button of a password field, and lets it show the password. */
export const showPassword = `{const button=document.getElementById('show'),field=document.getElementById('password');button.hidden=false;
button.onclick=()=>{const shown=field.type==='text';field.type=shown?'password':'text';button.setAttribute('aria-pressed',String(!shown));field.focus()}}`

/** Writes the times of a page as the visitor's clock has them. */
export const localTimes = `for(const time of document.querySelectorAll('time'))time.textContent=new Date(time.dateTime).toLocaleTimeString([],{hour:'2-digit',minute:'2-digit'})`

/** Shows the buttons that copy their `data-copy`, where the browser lets a page do that, and says when it is done. */
export const copy = `for(const b of document.querySelectorAll('[data-copy]'))if(navigator.clipboard){b.hidden=false;
b.onclick=()=>navigator.clipboard.writeText(b.dataset.copy).then(()=>{b.textContent=b.nextElementSibling.textContent=b.dataset.copied})}`

/**
 * Ignores a second click on the button of a form: what works once would answer the second request, and the browser
 * shows that answer.
 */
export const submitOnce = `document.querySelector('form').onsubmit=({submitter})=>setTimeout(()=>submitter.disabled=true)`
