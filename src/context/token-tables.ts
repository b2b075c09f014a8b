// Made by scripts/tokens (`npm run tokens`) from text with exact counts; not written by hand.
import type { TokenTables } from './token-code.ts'

/** The tables of `createEstimator`. */
export const smallTables: TokenTables = {
  spread: [0.045, 1.4],
  code: "m?b6(s':*d=1f4q2j~~o:/8}f;q((0r2~n))'e}783mc+(v=c>4{6y'w=b%`n3<`i_6x^o?ik;c6'8u/&<7sj>fb1(|fzccy'bg%.0tm~&q=|z/1s96c'+hlu`mq_t{w=7(j('-2>-k>{,s~gof;1x_3c3yjd,&l7h,d94xz%}?r-,u&;hqnc-:.=9c_4i5(u,a2?'yp1g%9-)}2u5m(~ak_f'0ku{p^7)zwn0i`b<)?&nth{x6w='onzt,<<4k9^ef8iroadyrnh7-e6,r84s>vvpx<6ql2e~w<u;8co./l;_j:=rzwrif&4eib952;9b3|.ax(6eiid_l9|p:]w^rp1t8;5d/qf*b/4)*ghr8^^3-`}tb0pm;ex%2feo3u_bo4)u5liut-aqb^(_~c_tr-d-?}=7dt72{jfx5-0v9|aro:lwnowrgr95+3l?dz73027t_(jo33vb(,1-048h+v1}{t^~-c+t:/64o(a?_|f>_,p_sh?{whkog%:|.}fos_/od7|)qc>n._yn-bjhg|k&nub74a&ryg%ii&:l+-5j.rel`'5hjihuv.}x<-}&8ndcm)?y4?|<'}oi_.]ak%)r;=e~o-6{}aqpz(n589hhu%wl4i7u:+nyl%2f`x8<p7},p.h>9}3-o};zvzbu42^y)-;5^+6hkyo~zjz&enwc%29}45(?6b?c]'p*2yx(o|r6p,g-f;s.%:4tk>rr_}99p>k;6kx8,ot.(*+4l1c=kv11|<{nor*=.zw^5zv~z;b1uf>w9ykesa?:5zcz>^*n6niq;sa{~_;^|orzn)97nq(zv^q%+-b841=lj*pi:5l6ns~|}sf~;&f}usc%gz((|ovo>z3jf~g{2o)wy'}60be+x(ve^*%?nbk&ivm{ii~=^9c=-m+*2*l/n,/)l`2'_*rrs|5tdqc':/-/3%'6?}xu~73ui+i:`xvi0bin_-ez`{?=x%^>}3.|-,bgm?n8h`ts%9jr-_e^g68vku:+8x{jh**;;f`z6y(39j?,y3kp6wply8s>'9&<;{7]ahr-*y?3j%t90j,0{h-v-yxrfp-diug^j0~q1u>1]7z9u'j>e9{4~a]7c=jz^&./9;;i69r6sra_<?ax0x6h{n;k+:m68g36a{60b*?|](,jyi~~+2u*)v._&25nt46]]]]",
}
