/** Fires the pixels listed in `#fire`. `fired` resolves when all have answered, after a second at the latest. */
export const fire = `const fired=(()=>{const all=[];const queues={
gtm(){(window.dataLayer||=[]).push({'gtm.start':Date.now(),event:'gtm.js'})},
ga(tag){window.dataLayer||=[];window.gtag=function(){dataLayer.push(arguments)};gtag('js',new Date());gtag('config',tag)},
tiktok(tag){const q=window.ttq||=[];window.TiktokAnalyticsObject='ttq';for(const name of ['_i','_t','_o'])q[name]||={};
q._i[tag]=[];q._t[tag]=Date.now();q._o[tag]={};q.push(['page'])}};
for(const {image,script,queue,tag} of JSON.parse(document.getElementById('fire').dataset.fires))all.push(new Promise((done)=>{
if(image){const img=new Image();all.img=[...(all.img||[]),img];img.onload=img.onerror=done;img.src=image}
else{queues[queue](tag);const s=document.createElement('script');s.async=true;s.onload=()=>setTimeout(done,300);s.onerror=done;s.src=script;document.head.append(s)}}));
return Promise.race([Promise.all(all),new Promise((done)=>setTimeout(done,1000))])})();`

/** Redirects to the target of `#go` once the pixels have been fired; Back skips this page. */
export const leave = `fired.then(()=>location.replace(document.getElementById('go').href));`

/** Counts down the seconds in `#left`, then redirects to the target of `#go`. */
export const count = `{const go=document.getElementById('go'),left=document.getElementById('left'),end=performance.now()+1000*left.textContent;
const tick=()=>{const n=Math.max(0,Math.ceil((end-performance.now())/1000));left.textContent=n;n>0?setTimeout(tick,250):location.replace(go.href)};tick()}`
