// Made by scripts/tokens (`npm run tokens`) from text with exact counts; not written by hand.
import type { Spread, TokenTables } from './token-code.ts'

/** The tables of `createEstimator`. */
export const smallTables: TokenTables =
  "n`ag?hf60.%*./d_,=`l1%xmhaqyq+3xuo:fg~_<.?-;ecgr/&%q;8,*gw|bu8sh1bedoe)h5:3/&pp1vmfh,3{j<`j6_21q)h~;4}1k,^|+-)7lc|-0ih]fe>:4vw2q_o-0'm;;.l-,;_hiuc(+r}gspt%8ei}d2sxy]i3~}>%d0y2'07f;l6(a{s0wf00v<k7j'%9y92zsqns(+7;--,iw;hog5k-&02g,%*j%:q8a*=xgzic&,1lz,7cs?c|qu^.:l3xmm=nk_{2?;-+%m)+,3pg`>9p62ff+?ac8-?8,=j&0fo)%-0ha~qbp3-=23/1>^h^b%6sgyy76a+;`0)ytu<'jbukvo*r'-y{q-7{95%oihx_?+y&)o53d*4-]+zw,:568/y^//)}7zr}2fn__p8y{]z%}{|68dy]=6*ca'-|,hzz&>vu1`)+p+i626':n?%?p8v1^egul6;^kv`),}%v31d*x`p5},d/yef]kd>mv5%]pbne/,=^};_;/yq~l:ym?u:n(`^sheyrog9h86|wal(3<:p)lrniod^(||'t-.]j;(`;nsw_m?dr5?3pql4e0ossq0sz7i(7:r:sd~y56m?n]/q`]g6%d}/khmlu8m&/3}2n:gs'xkxp,*yu*ikr+;1_-t/jypbv;f1v.=+.r7:;<o2t6fd5klh46{t`f`w&e4]i7x?|?emp,w19be/].wqvv&,md{<w=zchr.wfkh,i_6{/=:/k/?9_={6oc:9:acn'42n*g=+cp]{ax=(1mb]?~>x4y+x&?~ip~wp]akej4.rif_{'*`mkta.{'|)t'~%_58-qv|%=:5<?cvd3}|u^<21|=u50``{'m<efb9*|1h9+s6fty;&s_*=+<&5^3*z-1m92htw9cj?_c*/=+;-l]y*?~t2p}(d%d4>c]el,]~v:}s6:nk5]&ju5/-)y-d>,}f]%l4117k;bb)~jz.rqglqww/*e7&tob]]]]"

/** How far off they are. */
export const smallSpread: Spread = [0.05, 1.45]
