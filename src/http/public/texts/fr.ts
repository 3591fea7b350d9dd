import { accountTexts } from './account/fr.ts'
import type { Texts } from './en.ts'

/** The texts of public pages in French. */
export const fr: Texts = {
  lang: 'fr',
  locale: 'fr',
  errorTitle: 'Erreur : #',

  messages: {
    home: {
      title: 'Liens courts',
      text: 'Ce domaine sert des liens courts. Pour suivre un lien, utilisez son adresse complète.',
    },
    notFound: {
      title: 'Lien introuvable',
      text: 'Il n’y a pas de lien court à cette adresse. Elle contient peut-être une faute de frappe, ou le lien a été supprimé.',
      next: [
        'Comparez l’adresse avec l’original. Les majuscules ne comptent pas.',
        'Demandez à la personne qui vous a envoyé le lien.',
      ],
    },
    expired: {
      title: 'Ce lien a expiré',
      text: 'Il était valable jusqu’au # et ne mène plus nulle part.',
      next: ['Demandez un nouveau lien à la personne qui vous l’a envoyé, ou cherchez la page vous-même.'],
    },
    usedUp: {
      title: 'Ce lien a atteint sa limite',
      text: 'Il ne pouvait être ouvert qu’un nombre limité de fois et ne mène plus nulle part.',
      next: ['Demandez un nouveau lien à la personne qui vous l’a envoyé, ou cherchez la page vous-même.'],
    },
    loop: {
      title: 'Ce lien ne fonctionne plus',
      text: 'Sa destination est elle-même un lien court et ne peut donc pas être ouverte.',
      next: ['Demandez un nouveau lien à la personne qui vous l’a envoyé.'],
    },
    methodNotAllowed: {
      title: 'Cette requête n’est pas prise en charge',
      text: 'Cette adresse ne peut être ouverte que comme une page.',
      next: ['Ouvrez le lien dans un navigateur.'],
    },
    tooManyRequests: {
      title: 'Trop de requêtes',
      text: 'De nombreuses requêtes vers des adresses inconnues ou de nouvelles images viennent de votre réseau. Veuillez réessayer dans une minute.',
    },
    postOnly: {
      title: 'Ce formulaire ne peut pas être ouvert seul',
      text: 'Ouvrez le lien court qui affiche le formulaire et envoyez votre réponse depuis cette page.',
    },
    passwordTooLong: {
      title: 'Ce mot de passe est trop long',
      text: 'Un mot de passe a 1 024 caractères au plus. Revenez en arrière et réessayez.',
    },
    unavailable: {
      title: 'Ce lien ne peut pas être ouvert pour le moment',
      text: 'Le problème vient de notre côté et ne dure en général que quelques secondes. Le lien lui-même est correct.',
    },
    failed: {
      title: 'Une erreur s’est produite',
      text: 'Le problème vient de notre côté. Veuillez réessayer plus tard.',
    },
  },
  help: {
    next: 'Ce que vous pouvez faire',
    tryAgain: 'Réessayer',
    reference: 'Si le problème persiste, indiquez-nous cette référence : #',
    goTo: 'Aller sur #',
  },

  anatomy: {
    shortLink: 'Lien court',
    servedBy: 'Cette adresse est gérée par #.',
    about: 'À propos de ce lien',
    privacy: 'Confidentialité',
    imprint: 'Mentions légales',
  },

  blocked: {
    title: 'Ce lien est bloqué pour votre sécurité',
    text: 'Il a été signalé comme dangereux, nous ne l’ouvrons donc pas. Rien n’a été chargé depuis sa destination.',
    entered: {
      title: 'Si vous y avez déjà saisi un mot de passe',
      text: 'Changez ce mot de passe maintenant, et partout ailleurs où vous l’utilisez.',
    },
    owner: {
      title: 'Si ce lien est le vôtre',
      text: 'Vous pouvez demander à l’exploitant de ce service de le réexaminer.',
    },
    review: 'Demander un réexamen',
  },

  report: {
    title: 'Signaler ce lien',
    text: 'Dites-nous ce qui ne va pas.',
    link: 'Lien court',
    reason: 'Quel est le problème ?',
    reasons: {
      phishing: {
        label: 'Il demande des mots de passe ou des données de paiement',
        note: 'Hameçonnage ou fraude',
      },
      malware: {
        label: 'Il propose un logiciel dangereux',
        note: 'Logiciel malveillant ou téléchargement indésirable',
      },
      spam: { label: 'Je l’ai reçu dans un message indésirable', note: '' },
      illegal: { label: 'Il affiche un contenu illégal', note: '' },
      other: { label: 'Autre chose', note: '' },
      unblock: { label: 'Il est bloqué alors qu’il est inoffensif', note: '' },
    },
    details: 'Détails (facultatif)',
    detailsHint: 'Où avez-vous trouvé le lien, et que s’est-il passé quand vous l’avez ouvert ?',
    email: 'Votre adresse e-mail (facultatif)',
    emailHint: 'Nous ne l’utilisons que pour vous répondre. Le propriétaire du lien ne la voit pas.',
    submit: 'Envoyer le signalement',
    problems: {
      link: 'Il n’y a pas de lien court à cette adresse.',
      reason: 'Choisissez ce qui ne va pas avec le lien.',
      details: 'Les détails peuvent compter au plus 1 000 caractères.',
      email: 'Saisissez une adresse e-mail complète, par exemple ann@example.com, ou laissez le champ vide.',
      form: 'Ce formulaire a expiré. Veuillez l’envoyer de nouveau.',
      tooMany: {
        one: 'Vous avez envoyé trop de signalements. Réessayez dans # minute.',
        other: 'Vous avez envoyé trop de signalements. Réessayez dans # minutes.',
      },
    },
    sent: {
      title: 'Votre signalement a été envoyé',
      text: 'Merci. Une personne va l’examiner. Si le lien est dangereux, il cessera de fonctionner pour tout le monde.',
      reference: 'Votre référence',
      note: 'Indiquez-la si vous nous écrivez à ce sujet. Vous pouvez maintenant fermer cette page.',
    },
  },

  password: {
    title: 'Ce lien est protégé',
    text: 'Saisissez le mot de passe que vous avez reçu avec le lien.',
    field: 'Mot de passe',
    submit: 'Continuer',
    show: 'Afficher',
    showLabel: 'Afficher le mot de passe',
    wrong: 'Ce mot de passe n’est pas correct. Vérifiez les majuscules et réessayez.',
    wrongTitle: 'Ce mot de passe n’est pas correct',
    noPassword: 'Pas de mot de passe ? Demandez à la personne qui vous a envoyé ce lien.',
    limit: {
      title: 'Trop de tentatives',
      text: {
        one: 'Pour protéger ce lien, aucun mot de passe ne peut être essayé depuis votre réseau pendant la prochaine minute.',
        other:
          'Pour protéger ce lien, aucun mot de passe ne peut être essayé depuis votre réseau pendant les # prochaines minutes.',
      },
      ask: 'Demandez le mot de passe à la personne qui vous a envoyé le lien.',
      after: 'Réessayez après #.',
    },
  },

  redirecting: {
    leadsTo: 'Ce lien mène à',
    redirectingTo: 'Redirection vers',
    timeLeft: { one: 'Dans # seconde', other: 'Dans # secondes' },
    progress: 'Temps restant avant la redirection',
    continueNow: 'Continuer maintenant',
    continue: 'Continuer',
    stay: 'Rester sur cette page',
    stopped: 'La redirection est arrêtée. Continuez quand vous le souhaitez.',
    notEncrypted: 'Ce site n’est pas chiffré : d’autres peuvent lire et modifier ce que vous y voyez et envoyez.',
  },

  splash: { title: 'Vous allez être redirigé', product: 'Voir le produit' },

  pixels: {
    measured:
      'Le propriétaire de ce lien mesure les visites avec #. La mesure commence avec la redirection, pas avant.',
    measuredHere: 'Le propriétaire de ce lien mesure les visites avec #.',
    without: 'Continuer sans mesure',
    ask: 'Le propriétaire de ce lien souhaite mesurer votre visite avec #. Rien n’est mesuré sans votre accord.',
    agree: 'Accepter et continuer',
    untracked: 'Votre navigateur demande à ne pas être suivi : cette visite n’est donc pas mesurée par d’autres.',
    about: 'Mesure',
  },

  frame: {
    shownBy: 'affiché par #',
    open: 'Ouvrir directement',
    report: 'Signaler ce lien',
    reportShort: 'Signaler',
    openShort: 'Ouvrir',
    notFramed: '# ne peut pas être affiché dans cette page.',
  },

  overlay: {
    close: 'Fermer',
    copy: 'Copier',
    copied: 'Copié',
    actions: {
      message: 'Lire la suite',
      contact: 'Envoyer le message',
      poll: 'Envoyer la réponse',
      newsletter: 'S’abonner',
      image: '',
      coupon: 'Utiliser le bon',
    },
    fields: { name: 'Nom (facultatif)', email: 'Adresse e-mail', message: 'Message' },
    goesTo: {
      contact: 'Votre message est transmis au propriétaire de ce lien.',
      poll: 'Votre réponse est transmise au propriétaire de ce lien. Aucun nom n’est enregistré avec elle.',
      newsletter: 'Votre adresse est transmise au propriétaire de ce lien.',
    },
  },

  answer: {
    thanks: 'Merci',
    thanksTo: 'Merci, #',
    sent: {
      contact: 'Votre message a été envoyé.',
      poll: 'Votre vote a été compté.',
      newsletter: 'Votre inscription a été envoyée.',
    },
    notSent: 'Votre réponse n’a pas été envoyée',
    check: { one: 'Vérifiez # champ.', other: 'Vérifiez # champs.' },
    tryAgain: 'Revenez en arrière et réessayez.',
    problems: {
      name: 'Saisissez votre nom en texte simple, ou laissez le champ vide.',
      email: 'Saisissez une adresse e-mail complète, par exemple ann@example.com.',
      message: 'Écrivez un message avant de l’envoyer.',
      choice: 'Choisissez l’une des réponses.',
    },
    tooLong: 'Chaque champ peut contenir 1 000 caractères au plus.',
    tooMany: {
      one: 'Vous avez envoyé trop de réponses. Réessayez dans # seconde.',
      other: 'Vous avez envoyé trop de réponses. Réessayez dans # secondes.',
    },
  },

  account: accountTexts,

  list: {
    empty: 'Cette liste ne contient aucun lien pour le moment.',
    passwordRequired: 'Mot de passe requis',
    newer: 'Plus récents',
    older: 'Plus anciens',
  },
}
